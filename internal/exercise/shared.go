package exercise

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"lockstep/internal/language"
)

// errShared is returned for a package variable that can change: all processes of a schedule, and all schedules, would share it.
var errShared = errors.New("all processes share a variable of the package, which outlives a schedule")

// checkVariables returns errShared for the first package variable that can change, and its position. Such a variable is a mutex, a map, a
// channel, or any variable to which a function assigns. Scripts, errors and tables that no function writes to are allowed.
func checkVariables(file *ast.File) (at token.Pos, err error) {
	changed := assignedNames(file)
	for _, declaration := range file.Decls {
		declared, ok := declaration.(*ast.GenDecl)
		if !ok || declared.Tok != token.VAR {
			continue
		}
		for _, spec := range declared.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				at, err = checkDeclaration(values, changed)
			}
			if err != nil {
				return at, err
			}
		}
	}
	return token.NoPos, nil
}

// checkDeclaration returns errShared for the first variable of a declaration that can change, and its position. changed has the names of
// the variables to which functions assign.
func checkDeclaration(declared *ast.ValueSpec, changed []string) (at token.Pos, err error) {
	none := language.Text{}
	for i, name := range declared.Names {
		kind := kindOf(declared.Type)
		if kind == none && i < len(declared.Values) {
			kind = kindOf(declared.Values[i])
		}
		if kind == none && slices.Contains(changed, name.Name) {
			kind = language.Both("a variable that changes", "会变的变量")
		}
		if kind != none && name.Name != "_" {
			return name.Pos(), language.Translate(fmt.Errorf("%w: %s is %s", errShared, name.Name, kind.In(language.English)),
				"%s 是%s", name.Name, kind.In(language.Chinese))
		}
	}
	return token.NoPos, nil
}

// kindOf returns the kind of a type or value that changes without an assignment, such as "a map"; the zero Text for other types.
func kindOf(x ast.Expr) language.Text {
	switch x := x.(type) {
	case *ast.MapType:
		return language.Both("a map", " map")
	case *ast.ChanType:
		return language.Both("a channel", " channel")
	case *ast.StarExpr:
		return kindOf(x.X)
	case *ast.UnaryExpr: // &T{}
		return kindOf(x.X)
	case *ast.IndexExpr: // atomic.Pointer[T]
		return kindOf(x.X)
	case *ast.CompositeLit:
		return kindOf(x.Type)
	case *ast.CallExpr: // make, new
		if name, ok := x.Fun.(*ast.Ident); ok && (name.Name == "make" || name.Name == "new") && len(x.Args) > 0 {
			return kindOf(x.Args[0])
		}
	case *ast.SelectorExpr:
		if packageName, ok := x.X.(*ast.Ident); ok {
			return kindIn(packageName.Name, x.Sel.Name)
		}
	}
	return language.Text{}
}

// kindIn returns the kind of a type of the packages sync and sync/atomic; the zero Text for other packages.
func kindIn(packageName, name string) language.Text {
	switch {
	case packageName == "sync" && (name == "Mutex" || name == "RWMutex"):
		return language.Both("a mutex", "互斥锁")
	case packageName == "sync" && name == "Map":
		return language.Both("a map", " map")
	case packageName == "sync":
		return language.Both("a sync."+name, " sync."+name)
	case packageName == "atomic":
		return language.Both("an atomic."+name, " atomic."+name)
	default:
		return language.Text{}
	}
}

// assignedNames returns the names to which functions assign, without names that are local in some function of the file.
func assignedNames(file *ast.File) (names []string) {
	var local []string
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(function, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					local = append(local, roots(n.Lhs...)...)
				} else {
					names = append(names, roots(n.Lhs...)...)
				}
			case *ast.IncDecStmt:
				names = append(names, roots(n.X)...)
			case *ast.Field:
				local = append(local, namesOf(n.Names)...)
			case *ast.ValueSpec:
				local = append(local, namesOf(n.Names)...)
			}
			return true
		})
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(local, name) })
}

// roots returns the variables to which the expressions belong: x for x, x.f, x[i] and *x.
func roots(all ...ast.Expr) (names []string) {
	for _, x := range all {
		switch x := x.(type) {
		case *ast.IndexExpr:
			names = append(names, roots(x.X)...)
		case *ast.SelectorExpr:
			names = append(names, roots(x.X)...)
		case *ast.StarExpr:
			names = append(names, roots(x.X)...)
		case *ast.Ident:
			names = append(names, x.Name)
		}
	}
	return names
}

// namesOf returns the names of identifiers.
func namesOf(all []*ast.Ident) (names []string) {
	for _, name := range all {
		names = append(names, name.Name)
	}
	return names
}
