package checkout

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// breakage is a small change of a file that undoes what the code promises.
type breakage struct{ name, file, old, new string }

// source returns what is in the file, with something else in the one place where it has the old.
func (b breakage) source(t *testing.T) string {
	t.Helper()
	source := read(t, b.file)
	if strings.Count(source, b.old) != 1 {
		t.Fatalf("%s does not have %q once: the breakage has to follow the code", b.file, b.old)
	}
	return strings.Replace(source, b.old, b.new, 1)
}

func breakages[B interface{ breakage() breakage }](of []B) (all []breakage) {
	for _, b := range of {
		all = append(all, b.breakage())
	}
	return all
}

// version is a program, and which of its breakages is at work; "": none.
type version struct{ program, breakage string }

// atWork is the variable of the environment that names it.
const atWork = "BREAKAGE"

func (v version) command(arguments string) *exec.Cmd {
	command := exec.Command(v.program, strings.Fields(arguments)...)
	command.Env = append(os.Environ(), atWork+"="+v.breakage)
	return command
}

// breakable is a program that is built once for many breakages of Go files. None is at work.
func breakable(t *testing.T, all []breakage) version {
	t.Helper()
	texts := map[string]string{}
	for _, b := range all {
		if filepath.Ext(b.file) == ".go" && texts[b.file] == "" {
			texts[b.file] = switched(t, b.file, all)
		}
	}
	return version{program: build(t, overlays(t, texts))}
}

// with returns the program with a breakage at work. A script stands in it as in its file, and is changed there.
func (v version) with(t *testing.T, b breakage) version {
	t.Helper()
	if filepath.Ext(b.file) == ".go" {
		v.breakage = b.name
		return v
	}
	if runtime.GOOS == "darwin" { // which starts no program that was changed
		return version{program: build(t, overlays(t, map[string]string{b.file: b.source(t)}))}
	}
	script, source, text := read(t, b.file), b.source(t), read(t, v.program)
	if strings.Count(text, script) != 1 {
		t.Fatalf("%s stands %d times in the program", b.file, strings.Count(text, script))
	}
	if len(source) > len(script) { // at the cost of what its header says
		head, rest, _ := strings.Cut(source, "\n")
		source = head + "\n" + regexp.MustCompile(`(?m)^--.*\n`).ReplaceAllString(rest, "")
	}
	if len(source) > len(script) {
		t.Fatalf("%s: there is no room for the breakage", b.file)
	}
	program := filepath.Join(t.TempDir(), "lockstep.exe")
	changed := strings.Replace(text, script, source+strings.Repeat("\n", len(script)-len(source)), 1)
	syscall.ForkLock.RLock()                             // or a process that is started now has it open for writing, and it is busy
	err := os.WriteFile(program, []byte(changed), 0o700) //nolint:gosec // a program
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return version{program: program}
}

// switched returns a Go file in which each function that a breakage changes begins with what it then is, for where that is at work.
func switched(t *testing.T, file string, all []breakage) string {
	t.Helper()
	source := read(t, file)
	rest, bodies := functions(t, source)
	begins := make([]string, len(bodies))
	for _, b := range all {
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
		b := body{begin: begin, text: source[begin:end]}
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
