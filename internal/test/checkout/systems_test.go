package checkout

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// The program and its tests compile on systems that no test runs on. Types are all that can differ there, and they are checked from the
// source: a compiler takes thirty times as long.
func TestItCompilesOnEverySystem(t *testing.T) {
	suite.LongOnly(t, "what differs is a dozen files")
	tab := []string{"./internal/cli/tab/...", "./internal/web/tab"}
	for _, system := range []struct {
		os, arch string
		packages []string
	}{
		{"windows", "amd64", []string{"./..."}},
		{"darwin", "arm64", []string{"./..."}},
		{"js", "wasm", tab},
	} {
		t.Run(system.os, func(t *testing.T) {
			t.Parallel()
			check := checking{sizes: types.SizesFor("gc", system.arch), files: token.NewFileSet(), known: map[string]*types.Package{}}
			for _, p := range list(t, []string{"GOOS=" + system.os, "GOARCH=" + system.arch}, system.packages) {
				if err := check.add(p); err != nil {
					t.Error(err)
				}
			}
			t.Logf("%d packages", len(check.known))
		})
	}
}

// listed is a package as go list tells it.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct{ GoVersion string }
	Error           *struct{ Err string }
}

// list returns packages, with their tests, and before each all that it imports.
func list(t *testing.T, environment, packages []string) (all []listed) {
	t.Helper()
	fields := "-json=Dir,ImportPath,GoFiles,ImportMap,Standard,Module,Error"
	command := exec.Command("go", append([]string{"list", "-e", "-deps", "-test", fields}, packages...)...)
	command.Env = append(os.Environ(), environment...)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for text := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		err := text.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// checking knows the packages that were checked.
type checking struct {
	sizes types.Sizes
	files *token.FileSet
	known map[string]*types.Package
}

// add checks a package, after those that it imports. What the bodies of the standard library's functions do is Go's own matter.
func (c *checking) add(p listed) error {
	if p.Error != nil {
		return errors.New(p.Error.Err)
	}
	if p.ImportPath == "unsafe" {
		c.known[p.ImportPath] = types.Unsafe
		return nil
	}
	var files []*ast.File
	var errs []error
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		file, err := parser.ParseFile(c.files, name, nil, parser.SkipObjectResolution)
		if errs = append(errs, err); file != nil {
			files = append(files, file)
		}
	}
	config := types.Config{
		Sizes: c.sizes, IgnoreFuncBodies: p.Standard, Error: func(err error) { errs = append(errs, err) },
		Importer: importer(func(path string) (*types.Package, error) {
			if other, mapped := p.ImportMap[path]; mapped {
				path = other
			}
			if known, is := c.known[path]; is {
				return known, nil
			}
			return nil, errors.New("no package " + path)
		}),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	c.known[p.ImportPath], _ = config.Check(path, c.files, files, nil)
	return errors.Join(errs...)
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
