package checkout

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostMethods is how many methods a type of the explorer may have, those included that it gets from what it embeds.
const mostMethods = 45

// compiled is a package as go list knows it.
type compiled struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// What has many methods knows, and may do, many things.
func TestATypeOfTheExplorerHasFewMethods(t *testing.T) {
	packages := listed(t, "./internal/explore/...")
	set := token.NewFileSet()
	exports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(packages[path].Export) })
	many, seen := []string{}, 0
	for path, p := range packages {
		if p.DepOnly {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := types.Info{Defs: map[*ast.Ident]types.Object{}}
		if _, err := (&types.Config{Importer: exports}).Check(path, set, files, &info); err != nil {
			t.Fatal(err)
		}
		for _, object := range info.Defs {
			declared, ok := object.(*types.TypeName)
			if !ok || declared.IsAlias() {
				continue
			}
			seen++
			if n := countMethods(declared.Type()); n > mostMethods {
				many = append(many, fmt.Sprintf("%4d %s.%s", n, path, declared.Name()))
			}
		}
	}
	slices.Sort(many)
	slices.Reverse(many)
	if len(many) > 0 {
		t.Errorf("more than %d methods have\n%s", mostMethods, strings.Join(many, "\n"))
	}
	if seen < 100 {
		t.Errorf("there are %d types; it looks at few of them", seen)
	}
}

// countMethods counts the methods of a pointer to a type, or of an interface.
func countMethods(of types.Type) int {
	if !types.IsInterface(of) {
		of = types.NewPointer(of)
	}
	return types.NewMethodSet(of).Len()
}

// listed gives packages and all that they need, compiled, by their paths.
func listed(t *testing.T, pattern string) map[string]compiled {
	t.Helper()
	const fields = "-json=ImportPath,Dir,Export,GoFiles,DepOnly"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", fields, pattern).Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]compiled{}
	for all := json.NewDecoder(strings.NewReader(string(out))); all.More(); {
		var p compiled
		if err := all.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
	return packages
}
