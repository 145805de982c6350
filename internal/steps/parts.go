package steps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"lockstep/internal"
)

// goFile is the form of a Go file: the name of its package and where that stands, where the code begins below the imports, and the
// declarations there.
type goFile struct {
	name         string
	at, code     int
	declarations []declaration
}

// declaration is a piece of a file, with its comment and the blank line below.
type declaration struct {
	from, to int
	of       string // a method's type
	names    []string
}

// isNamed reports whether a name means the declaration: its own; of a method its type, or TYPE.METHOD.
func (d declaration) isNamed(name string) bool {
	if d.of != "" {
		return name == d.of || name == d.of+"."+d.names[0]
	}
	return slices.Contains(d.names, name)
}

// form parses a text; one that is no Go file has none.
func form(text string) (f goFile) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return f
	}
	begin := func(n ast.Node) int { return files.Position(n.Pos()).Offset }
	end := func(n ast.Node) int {
		to := files.Position(n.End()).Offset
		return to + strings.IndexByte(text[to:], '\n') + 1
	}
	f.name, f.at, f.code = file.Name.Name, begin(file.Name), end(file.Name)
	for _, one := range file.Decls {
		d := declaration{from: begin(one), to: end(one)}
		var comment *ast.CommentGroup
		switch one := one.(type) {
		case *ast.FuncDecl:
			comment, d.names = one.Doc, []string{one.Name.Name}
			if one.Recv != nil {
				d.of = receiver(one)
			}
		case *ast.GenDecl:
			if one.Tok == token.IMPORT {
				f.code = d.to
				continue
			}
			comment, d.names = one.Doc, namesOf(one)
		}
		if comment != nil {
			d.from = begin(comment)
		}
		if strings.HasPrefix(text[d.to:], "\n") {
			d.to++
		}
		f.declarations = append(f.declarations, d)
	}
	return f
}

// receiver returns the name of a method's type.
func receiver(method *ast.FuncDecl) (name string) {
	ast.Inspect(method.Recv.List[0].Type, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// namesOf returns what a declaration of types, constants or variables declares.
func namesOf(all *ast.GenDecl) (names []string) {
	for _, spec := range all.Specs {
		switch one := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, one.Name.Name)
		case *ast.ValueSpec:
			for _, name := range one.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// split returns what stands above the code, and the code. That a package has the name of its lock is no difference.
func (p pair) split() (above, code pair) {
	above, code = p, p
	before, after := form(p.before), form(p.after)
	above.before, above.after = p.before[:before.code], p.after[:after.code]
	code.before = strings.TrimPrefix(p.before[before.code:], "\n")
	code.after = strings.TrimPrefix(p.after[after.code:], "\n")
	if before.name != "" && after.name != "" {
		above.before = p.before[:before.at] + after.name + p.before[before.at+len(before.name):before.code]
	}
	return above, code
}

// shared returns a part of internal/lock, by its name as the table has it: a file, without what others of its names take from it; or
// "cohort.go Rounds", a declaration, of a type with its methods.
func shared(name string) (pair, error) {
	file, declared, _ := strings.Cut(name, " ")
	content, err := fs.ReadFile(internal.Sources, "lock/"+file)
	if err != nil {
		return pair{}, err
	}
	text, others := string(content), takenFrom(file)
	f := form(text)
	kept, at := "", 0
	for _, d := range f.declarations {
		if declared == "" && slices.ContainsFunc(others, d.isNamed) || declared != "" && !d.isNamed(declared) {
			kept += text[at:d.from]
		} else {
			kept += text[at:d.to]
		}
		at = d.to
	}
	kept += text[at:]
	if declared != "" {
		kept = kept[f.code:]
	}
	return pair{path: "internal/lock/" + file, after: strings.TrimRight(kept, "\n") + "\n"}, nil
}

// takenFrom returns the declarations of a file that a step brings by their names.
func takenFrom(file string) (names []string) {
	for _, s := range table() {
		for _, part := range s.Brings {
			if from, name, _ := strings.Cut(part, " "); from == file && name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// declared cuts a function out of a file, with its comment.
func declared(text, function string) string {
	for _, d := range form(text).declarations {
		if d.isNamed(function) {
			return strings.TrimRight(text[d.from:d.to], "\n") + "\n"
		}
	}
	return ""
}

// comment is one of Go or Lua. What begins like one after a space, in a string, is in none of our sources.
var comment = regexp.MustCompile(`(?m)(?:^|[ \t]+)(?://|--).*$`)

// uncommented returns a text without its comments and blank lines.
func uncommented(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(comment.ReplaceAllString(text, "")) {
		if strings.TrimSpace(line) != "" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
