package exercise

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"

	"lockstep/internal/explore"
)

// refuse returns why a learner's code cannot be explored: it starts a goroutine, takes the time from elsewhere than its clock, or has a
// variable for all processes. The explorer finds most of that too, but not a call that changes nothing in an exploration, and no goroutine
// that panics at once; and where a variable of the package makes it do something else the second time, or wait, it names another cause.
// What is no Go is left to the compiler.
func (c Checker) refuse(dir string) error {
	files, err := filepath.Glob(filepath.Join(c.Root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name := path.Join(filepath.ToSlash(dir), filepath.Base(file))
		if with, has := c.Overlay[name]; has {
			file = with
		}
		positions := token.NewFileSet()
		tree, err := parser.ParseFile(positions, file, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		at, why := refusal(tree)
		if why == nil {
			at, why = sharedVariable(tree)
		}
		if why != nil {
			return fmt.Errorf("%w (%s:%d)", why, path.Base(name), positions.Position(at).Line)
		}
	}
	return nil
}

// refusal returns the first thing in a file that is refused, and where it is.
func refusal(file *ast.File) (at token.Pos, why error) {
	packages := map[string]string{} // by the names that they have in the file
	for _, imported := range file.Imports {
		of, _ := strconv.Unquote(imported.Path.Value)
		name := path.Base(of)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		packages[name] = of
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if why != nil || n == nil {
			return false
		}
		at = n.Pos()
		switch n := n.(type) {
		case *ast.GoStmt:
			why = fmt.Errorf("%w: it starts a goroutine of its own", explore.ErrBlind)
		case *ast.SelectorExpr:
			if x, is := n.X.(*ast.Ident); is {
				why = refusedCall(packages[x.Name] + "." + n.Sel.Name)
			}
		}
		return why == nil
	})
	return at, why
}

// refusedCall returns why a function may not be called; nil if it may.
func refusedCall(function string) error {
	switch function {
	case "time.Now", "time.Since", "time.Until":
		return fmt.Errorf("%w: it calls %s", explore.ErrUnrepeatable, function)
	case "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker", "context.AfterFunc":
		return fmt.Errorf("%w: it calls %s", explore.ErrBlind, function)
	default:
		return nil
	}
}
