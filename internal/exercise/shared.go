package exercise

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// errShared means that the processes of a schedule, and all schedules, have a variable in common.
var errShared = errors.New("all processes share a variable of the package, which outlives a schedule")

// sharedVariable returns the first variable of the package that can change, and where it is: a mutex, a map, a channel, or any to which a
// function assigns. Scripts, errors and tables that nobody writes to are no such variables.
func sharedVariable(file *ast.File) (at token.Pos, why error) {
	changed := assigned(file)
	for _, declaration := range file.Decls {
		declared, is := declaration.(*ast.GenDecl)
		if !is || declared.Tok != token.VAR {
			continue
		}
		for _, spec := range declared.Specs {
			if values, is := spec.(*ast.ValueSpec); is {
				at, why = changing(values, changed)
			}
			if why != nil {
				return at, why
			}
		}
	}
	return token.NoPos, nil
}

// changing returns the first variable of a declaration that can change, and where it is.
func changing(declared *ast.ValueSpec, changed []string) (at token.Pos, why error) {
	for i, name := range declared.Names {
		kind := kindOf(declared.Type)
		if kind == "" && i < len(declared.Values) {
			kind = kindOf(declared.Values[i])
		}
		if kind == "" && slices.Contains(changed, name.Name) {
			kind = "a variable that changes"
		}
		if kind != "" && name.Name != "_" {
			return name.Pos(), fmt.Errorf("%w: %s is %s", errShared, name.Name, kind)
		}
	}
	return token.NoPos, nil
}

// kindOf names what a type, or a value, is that changes although nobody assigns to it; "" if it is no such thing.
func kindOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.MapType:
		return "a map"
	case *ast.ChanType:
		return "a channel"
	case *ast.StarExpr:
		return kindOf(x.X)
	case *ast.UnaryExpr: // &T{}
		return kindOf(x.X)
	case *ast.IndexExpr: // atomic.Pointer[T]
		return kindOf(x.X)
	case *ast.CompositeLit:
		return kindOf(x.Type)
	case *ast.CallExpr: // make, new
		if name, is := x.Fun.(*ast.Ident); is && (name.Name == "make" || name.Name == "new") && len(x.Args) > 0 {
			return kindOf(x.Args[0])
		}
	case *ast.SelectorExpr:
		if of, is := x.X.(*ast.Ident); is {
			return kindIn(of.Name, x.Sel.Name)
		}
	}
	return ""
}

// kindIn names what a type of the packages sync and sync/atomic is.
func kindIn(of, name string) string {
	switch {
	case of == "sync" && (name == "Mutex" || name == "RWMutex"):
		return "a mutex"
	case of == "sync" && name == "Map":
		return "a map"
	case of == "sync":
		return "a sync." + name
	case of == "atomic":
		return "an atomic." + name
	default:
		return ""
	}
}

// assigned lists the names to which functions assign, but for those that are a function's own somewhere in the file.
func assigned(file *ast.File) (names []string) {
	var own []string
	for _, declaration := range file.Decls {
		function, is := declaration.(*ast.FuncDecl)
		if !is {
			continue
		}
		ast.Inspect(function, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					own = append(own, roots(n.Lhs...)...)
				} else {
					names = append(names, roots(n.Lhs...)...)
				}
			case *ast.IncDecStmt:
				names = append(names, roots(n.X)...)
			case *ast.Field:
				own = append(own, namesOf(n.Names)...)
			case *ast.ValueSpec:
				own = append(own, namesOf(n.Names)...)
			}
			return true
		})
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(own, name) })
}

// roots names the variables that these are, or are a part of.
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

func namesOf(all []*ast.Ident) (names []string) {
	for _, name := range all {
		names = append(names, name.Name)
	}
	return names
}
