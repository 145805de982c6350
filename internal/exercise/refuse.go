package exercise

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"

	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// checkSource returns an error if a learner's code cannot be explored: it starts a goroutine, takes the time from elsewhere than its clock,
// or shares a variable between processes. The explorer finds most of these faults, too, but it misses a call without an effect on the
// exploration and a goroutine that panics at once. It names another cause if a package variable changes what the code does or makes the
// code wait. Code that does not parse is left to the compiler.
func (c Checker) checkSource(dir string) error {
	files, err := c.sources(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		positions := token.NewFileSet()
		tree, err := parser.ParseFile(positions, file.path, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		at, err := forbiddenCode(tree)
		if err == nil {
			at, err = checkVariables(tree)
		}
		if err != nil {
			return fmt.Errorf("%w (%s:%d)", err, path.Base(file.name), positions.Position(at).Line)
		}
	}
	return nil
}

// forbiddenCode returns an error for the first forbidden statement or call in a file, and its position.
func forbiddenCode(file *ast.File) (at token.Pos, err error) {
	packages := map[string]string{} // import path by the package's name in the file
	for _, imported := range file.Imports {
		importPath, _ := strconv.Unquote(imported.Path.Value)
		name := path.Base(importPath)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		packages[name] = importPath
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if err != nil || n == nil {
			return false
		}
		at = n.Pos()
		switch n := n.(type) {
		case *ast.GoStmt:
			err = language.Translate(fmt.Errorf("%w: it starts a goroutine of its own", explore.ErrBlind), "代码自己启动了一个 goroutine")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				err = checkCall(packages[x.Name] + "." + n.Sel.Name)
			}
		}
		return err == nil
	})
	return at, err
}

// checkCall returns an error if a function, such as time.Now, must not be called.
func checkCall(function string) error {
	switch function {
	case "time.Now", "time.Since", "time.Until":
		return callError(explore.ErrUnrepeatable, function)
	case "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker", "context.AfterFunc":
		return callError(explore.ErrBlind, function)
	default:
		return nil
	}
}

// callError returns an error that wraps kind, for code that calls a function.
func callError(kind error, function string) error {
	return language.Translate(fmt.Errorf("%w: it calls %s", kind, function), "代码调用了 %s", function)
}
