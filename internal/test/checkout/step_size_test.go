package checkout

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// The steps of the evolution, each with the one that it is a step from. A lesson is the difference of two: it has to fit on a few screens.

// step is a step, and how many lines may change in it.
type step struct {
	from, to string
	most     int
}

const (
	mostChanged = 130
	mostOfAStep = 350 // lines of a package
)

var steps = []step{
	{"lockv1", "lockv2", 20}, {"lockv2", "lockv3", 40}, {"lockv3", "lockv4", 40}, {"lockv4", "lockv5", 40}, {"lockv5", "lockv6", 80},
	{"lockv6", "lockv7", mostChanged}, {"lockv7", "lockv8", mostChanged}, {"lockv8", "lockv9", mostChanged},
	{"lockv9", "lockv10", mostChanged}, {"lockv8", "lock/redlock", mostChanged},
}

// sources gives the Go files of a package, without its tests.
func sources(t *testing.T, pkg string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("internal", pkg, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no files: %v", pkg, err)
	}
	for _, path := range paths {
		if name := filepath.Base(path); !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
	}
	return names
}

func source(t *testing.T, pkg, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("internal", pkg, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// changed counts the lines that diff -r shows of two packages.
func changed(t *testing.T, from, to string) (lines int) {
	t.Helper()
	output, err := exec.Command("diff", "-r", "-x", "*_test.go", filepath.Join("internal", from), filepath.Join("internal", to)).Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(output) {
		if line[0] == '<' || line[0] == '>' {
			lines++
		}
		if bytes.HasPrefix(line, []byte("Only in ")) { // diff -r does not show its lines
			t.Logf("%s", bytes.TrimSpace(line))
		}
	}
	return lines
}

func TestAStepIsSmall(t *testing.T) {
	suite.Needs(t, "diff")
	for _, s := range steps {
		n := changed(t, s.from, s.to)
		t.Logf("diff -r internal/%s internal/%s: %d lines", s.from, s.to, n)
		if n > s.most || n == 0 {
			t.Errorf("%s and %s differ in %d lines; want %d at most", s.from, s.to, n, s.most)
		}
		if from, to := sources(t, s.from), sources(t, s.to); s.from >= "lockv6" && !slices.Equal(from, to) {
			t.Errorf("%s has the files %v, %s %v: the same ones can be read side by side", s.from, from, s.to, to)
		}
		lines := 0
		for _, name := range sources(t, s.to) {
			lines += strings.Count(source(t, s.to, name), "\n")
		}
		t.Logf("internal/%s: %d lines", s.to, lines)
		if lines > mostOfAStep {
			t.Errorf("%s has %d lines; want %d at most", s.to, lines, mostOfAStep)
		}
	}
}

// What two steps both have, they have in the same order: so a diff shows what is new, and not what was moved.
func TestAStepKeepsTheOrder(t *testing.T) {
	for _, s := range steps {
		to := sources(t, s.to)
		for _, name := range sources(t, s.from) {
			if !slices.Contains(to, name) {
				continue
			}
			one, two := declared(t, s.from, name), declared(t, s.to, name)
			one, two = both(one, two), both(two, one)
			if !slices.Equal(one, two) {
				t.Errorf("%s of %s and %s have %v in another order: %v", name, s.from, s.to, one, two)
			}
		}
	}
	if len(both([]string{"a", "b"}, []string{"b"})) != 1 || len(declared(t, "lockv9", "lock.go")) < 10 {
		t.Error("there is nothing to compare")
	}
}

// both gives those names that others have, too.
func both(names, others []string) (common []string) {
	for _, name := range names {
		if slices.Contains(others, name) {
			common = append(common, name)
		}
	}
	return common
}

// declared gives the names that a file declares at its top, a struct's fields among them, in order.
func declared(t *testing.T, pkg, name string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source(t, pkg, name), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				names = append(names, named(spec)...)
			}
		}
	}
	return names
}

func named(spec ast.Spec) (names []string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			names = append(names, name.Name)
		}
	case *ast.TypeSpec:
		names = append(names, s.Name.Name)
		if fields, ok := s.Type.(*ast.StructType); ok {
			for _, field := range fields.Fields.List {
				for _, name := range field.Names {
					names = append(names, s.Name.Name+"."+name.Name)
				}
			}
		}
	}
	return names
}
