package steps_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/steps"
)

// contract lists the files that every lock has, so no step brings them.
var contract = []string{"lock.go", "errors.go", "clock.go", "closer.go"}

// declaredIn has the declarations of internal/lock: for each file its names, and for each name those that its declaration and its methods
// mention. A name begins with its package, as in lock.Poll.
type declaredIn struct {
	names    map[string][]string
	mentions map[string]map[string]bool
}

func declarations(t *testing.T) declaredIn {
	t.Helper()
	all := declaredIn{names: map[string][]string{}, mentions: map[string]map[string]bool{}}
	for _, pattern := range []string{"*.go", "quorum/*.go"} {
		paths, err := filepath.Glob(filepath.Join("../lock", pattern))
		if err != nil || paths == nil {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file := parsed(t, path)
			name, err := filepath.Rel("../lock", path)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				for _, one := range named(decl) {
					one = file.Name.Name + "." + one
					if all.mentions[one] == nil {
						all.mentions[one] = map[string]bool{}
						all.names[name] = append(all.names[name], one)
					}
					maps.Copy(all.mentions[one], mentioned(decl, file.Name.Name))
				}
			}
		}
	}
	return all
}

func parsed(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// named returns the names of a declaration. That of a method is its type's.
func named(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && names == nil {
				names = []string{id.Name}
			}
			return true
		})
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names = append(names, name.Name)
				}
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			}
		}
	}
	return names
}

// mentioned returns the names that code of a package mentions: those of the package, and those of lock and quorum.
func mentioned(code ast.Node, pkg string) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			names[pkg+"."+n.Name] = true
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				names[id.Name+"."+n.Sel.Name] = true
			}
			maps.Copy(names, mentioned(n.X, pkg))
			return false // the name of a field is none of the package's
		}
		return true
	})
	return names
}

// used returns all names that a lock's code mentions, directly or through other declarations.
func (d declaredIn) used(t *testing.T, lock string) map[string]bool {
	used := map[string]bool{}
	var use func(name string)
	use = func(name string) {
		if !used[name] && d.mentions[name] != nil {
			used[name] = true
			for next := range d.mentions[name] {
				use(next)
			}
		}
	}
	for name := range lockFiles(t, lock) {
		dir := "../lock" + lock
		if !strings.HasPrefix(lock, "v") {
			dir = "../lock/" + lock
		}
		for mention := range mentioned(parsed(t, filepath.Join(dir, name)), "own") {
			use(mention)
		}
	}
	return used
}

// of returns the names of a part of the table.
func (d declaredIn) of(part string, taken []string) []string {
	file, name, _ := strings.Cut(part, " ")
	if name != "" {
		return []string{strings.TrimSuffix(filepath.Base(filepath.Join("lock", filepath.Dir(file))), ".") + "." + name}
	}
	return slices.DeleteFunc(slices.Clone(d.names[file]), func(one string) bool { return slices.Contains(taken, one) })
}

// Each part of internal/lock is brought by the first step that uses it, and left by the first that does not. So each lock has what it
// uses, and uses what it has.
func TestStepIncludesWhatItUses(t *testing.T) {
	all, d := steps.All(language.English), declarations(t)
	var taken, brought []string
	for _, s := range all {
		for _, part := range s.NewParts {
			brought = append(brought, strings.Fields(part)[0])
			if strings.Contains(part, " ") {
				taken = append(taken, d.of(part, nil)...)
			}
		}
	}
	for file, names := range d.names {
		if slices.Contains(contract, file) == slices.Contains(brought, file) {
			t.Errorf("%s, which declares %v, is brought by no step, or is the contract", file, names)
		}
	}
	for _, s := range all {
		if strings.Contains(s.From, "expire") {
			continue // these two share nothing
		}
		present, uses := map[string]bool{}, d.used(t, s.To)
		for _, step := range wayTo(all, s.To) {
			for _, part := range step.NewParts {
				if present[part] {
					t.Errorf("%s brings %s, which %s has", step.Pair(), part, step.From)
				}
				present[part] = true
			}
			for _, part := range step.DroppedParts {
				if !present[part] {
					t.Errorf("%s leaves %s, which %s has not", step.Pair(), part, step.From)
				}
				delete(present, part)
			}
		}
		for part := range present {
			names := d.of(part, taken)
			if !slices.ContainsFunc(names, func(name string) bool { return uses[name] }) && !strings.Contains(part, ".go ") {
				t.Errorf("%s has %s, and does not use it: a step that does not leave it, or brings it too early", s.To, part)
			}
			for _, name := range names {
				delete(uses, name)
			}
		}
		for _, file := range contract {
			for _, name := range d.names[file] {
				delete(uses, name)
			}
		}
		for name := range uses {
			t.Errorf("%s uses %s, and no step on the way to it brings that", s.To, name)
		}
	}
}

// wayTo returns the steps from the first lock to another.
func wayTo(all []steps.Step, lock string) (way []steps.Step) {
	for i := slices.IndexFunc(all, func(s steps.Step) bool { return s.To == lock }); i >= 0; {
		way = append([]steps.Step{all[i]}, way...)
		i = slices.IndexFunc(all, func(s steps.Step) bool { return s.To == way[0].From })
	}
	return way
}

// The parts of a shared file that the steps show are, together, all of its declarations, each once.
func TestPartsCoverFiles(t *testing.T) {
	shown := map[string]string{}
	for _, s := range steps.All(language.English) {
		for _, f := range detail(t, s.Pair()).Files {
			of := len(s.NewParts) > 0 && !f.Head && strings.HasPrefix(f.Name, "internal/lock/") && !strings.Contains(f.Name, s.To+"/")
			if part := side(f, steps.Added); of && !strings.Contains(shown[f.Name], part) { // two branches may bring the same
				shown[f.Name] += part
			}
		}
	}
	for name, have := range shown {
		_, text, _ := strings.Cut(read(t, filepath.Join("../..", name)), "\nimport ")
		end := "\n"
		if strings.HasPrefix(text, "(") {
			end = "\n)\n"
		}
		_, text, _ = strings.Cut(text, end)
		if have, want := sorted(have), sorted(text); have != want {
			t.Errorf("%s has the lines\n%s\nand the steps show\n%s", name, want, have)
		}
	}
	if len(shown) < 6 {
		t.Errorf("the steps show parts of %d files", len(shown))
	}
}

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
