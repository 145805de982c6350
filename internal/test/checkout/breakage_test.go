package checkout

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// source returns what is in the file, with something else in the one place where it has the old.
func (b breakage) source(t *testing.T) string {
	t.Helper()
	source := read(t, b.file)
	if strings.Count(source, b.old) != 1 {
		t.Fatalf("%s does not have %q once: the breakage has to follow the code", b.file, b.old)
	}
	return strings.Replace(source, b.old, b.new, 1)
}

// version is a program, and which of its breakages is at work; "": none.
type version struct{ program, breakage string }

// atWork is the variable of the environment that names it.
const atWork = "BREAKAGE"

func (v version) with(b breakage) version { return version{v.program, b.name} }

// judge runs a command that judges, and returns its exit code, and what it says. A lab that did not put its lock to the test, as the
// machine was busy, is run again. Soaks get longer until one says what is asked for: the first has one fault.
func (v version) judge(t *testing.T, command, says string) (code int, said string) {
	t.Helper()
	for _, minutes := range []string{"0.1", "0.3", "0.6"} {
		arguments := strings.Fields(command)
		soak := arguments[0] == "soak"
		if soak {
			arguments = append(arguments, "--html=", "--seed", "1", "--minutes", minutes)
		}
		run := exec.CommandContext(t.Context(), v.program, arguments...)
		run.Env = append(os.Environ(), atWork+"="+v.breakage)
		output, err := run.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		code, said = run.ProcessState.ExitCode(), string(output)
		if soak && code == 1 && strings.Contains(said, says) || !soak && code != 2 {
			break
		}
		t.Logf("%s says:\n%s", command, said)
	}
	return code, said
}

// breakable is a program that is built once for all breakages. None is at work.
func breakable(t *testing.T) version {
	t.Helper()
	texts := map[string]string{}
	for _, b := range breakages {
		if filepath.Ext(b.file) == ".go" && texts[b.file] == "" {
			texts[b.file] = switched(t, b.file)
		}
	}
	texts[scripts] = switched(t, scripts)
	return version{program: build(t, overlays(t, texts))}
}

// scripts is the file whose function read returns what is in a script.
const scripts = "util/lua/lua.go"

// switched returns a Go file in which each function that a breakage changes begins with what it then is, for where that is at work.
func switched(t *testing.T, file string) string {
	t.Helper()
	source := read(t, file)
	rest, bodies := functions(t, source)
	begins := make([]string, len(bodies))
	for _, b := range breakages {
		if file == scripts && filepath.Ext(b.file) == ".lua" {
			for i, body := range bodies {
				if body.name == "read" {
					begins[i] += fmt.Sprintf("if file == %q && switching.Getenv(%q) == %q {return %q}; ",
						filepath.Base(b.file), atWork, b.name, b.source(t))
				}
			}
		}
		if b.file != file {
			continue
		}
		otherRest, others := functions(t, b.source(t))
		if otherRest != rest {
			t.Fatalf("%s: the breakage %q is not within functions", file, b.name)
		}
		for i, other := range others {
			if other.text != bodies[i].text {
				begins[i] += fmt.Sprintf("if switching.Getenv(%q) == %q {%s; %s}; ", atWork, b.name, other.text, other.ends)
			}
		}
	}
	var text bytes.Buffer
	at := 0
	for i, body := range bodies {
		text.WriteString(source[at:body.begin] + begins[i])
		at = body.begin
	}
	text.WriteString(source[at:])
	return regexp.MustCompile(`(?m)^package .*$`).ReplaceAllString(text.String(), `$0; import switching "os"`)
}

// body is what a function does.
type body struct {
	name  string // the function's
	begin int
	text  string
	ends  string // how it does
}

// functions returns the bodies of a file's functions, and all else.
func functions(t *testing.T, source string) (rest string, all []body) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, declaration := range file.Decls {
		function, is := declaration.(*ast.FuncDecl)
		if !is {
			continue
		}
		begin, end := files.Position(function.Body.Lbrace).Offset+1, files.Position(function.Body.Rbrace).Offset
		b := body{name: function.Name.Name, begin: begin, text: source[begin:end]}
		if function.Type.Results == nil {
			b.ends = "return"
		}
		all = append(all, b)
		rest += source[at:begin]
		at = end
	}
	return rest + source[at:], all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// build builds lockstep as the README says; it links faster without what debuggers want.
func build(t *testing.T, overlay string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "lockstep.exe")
	arguments := append(buildLine(t), "-o", program)
	if overlay != "" {
		arguments = append(arguments, "-overlay", overlay)
	}
	if output, err := exec.Command("go", append(arguments, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	return program
}
