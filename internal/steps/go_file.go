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

// goFile is the structure of a Go file. Its offsets are in bytes. The zero goFile stands for a text that is not Go.
type goFile struct {
	packageName   string
	packageOffset int           // offset of the package's name
	codeOffset    int           // offset of the code, which follows the imports
	declarations  []declaration // declarations in the code, in order
}

// declaration is a declaration with its comment and the blank line below.
type declaration struct {
	start, end int      // byte offsets in the file
	receiver   string   // type of a method; "": not a method
	names      []string // names that it declares
}

// isNamed reports whether name selects the declaration: name is a name that it declares or, for a method, TYPE or TYPE.METHOD.
func (d declaration) isNamed(name string) bool {
	if d.receiver != "" {
		return name == d.receiver || name == d.receiver+"."+d.names[0]
	}
	return slices.Contains(d.names, name)
}

// parseGo parses a Go file. It returns the zero goFile if text is not Go.
func parseGo(text string) (f goFile) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return f
	}
	startOf := func(n ast.Node) int { return files.Position(n.Pos()).Offset }
	endOf := func(n ast.Node) int {
		to := files.Position(n.End()).Offset
		return to + strings.IndexByte(text[to:], '\n') + 1
	}
	f.packageName = file.Name.Name
	f.packageOffset = startOf(file.Name)
	f.codeOffset = endOf(file.Name)
	for _, one := range file.Decls {
		d := declaration{start: startOf(one), end: endOf(one)}
		var comment *ast.CommentGroup
		switch one := one.(type) {
		case *ast.FuncDecl:
			comment, d.names = one.Doc, []string{one.Name.Name}
			if one.Recv != nil {
				d.receiver = receiverType(one)
			}
		case *ast.GenDecl:
			if one.Tok == token.IMPORT {
				f.codeOffset = d.end
				continue
			}
			comment, d.names = one.Doc, declaredNames(one)
		}
		if comment != nil {
			d.start = startOf(comment)
		}
		if strings.HasPrefix(text[d.end:], "\n") {
			d.end++
		}
		f.declarations = append(f.declarations, d)
	}
	return f
}

// receiverType returns the name of a method's type.
func receiverType(method *ast.FuncDecl) (name string) {
	ast.Inspect(method.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// declaredNames returns the names that a declaration of types, constants or variables declares.
func declaredNames(declaration *ast.GenDecl) (names []string) {
	for _, spec := range declaration.Specs {
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

// split separates the head of a file, which is the text above the code, from the code. It gives both heads the same package name, because
// a package that is named after its lock is not a change.
func (p pair) split() (head, code pair) {
	head, code = p, p
	before, after := parseGo(p.before), parseGo(p.after)
	head.before, head.after = p.before[:before.codeOffset], p.after[:after.codeOffset]
	code.before = strings.TrimPrefix(p.before[before.codeOffset:], "\n")
	code.after = strings.TrimPrefix(p.after[after.codeOffset:], "\n")
	if before.packageName != "" && after.packageName != "" {
		rest := p.before[before.packageOffset+len(before.packageName) : before.codeOffset]
		head.before = p.before[:before.packageOffset] + after.packageName + rest
	}
	return head, code
}

// sharedPart returns a part of internal/lock by its name in the table. "cohort.go" is the file without the declarations that the table
// names separately. "cohort.go Rounds" is one declaration; the declaration of a type includes its methods.
func sharedPart(name string) (pair, error) {
	file, declared, _ := strings.Cut(name, " ")
	content, err := fs.ReadFile(internal.Sources, "lock/"+file)
	if err != nil {
		return pair{}, err
	}
	text, separate := string(content), separateDeclarations(file)
	f := parseGo(text)
	kept, offset := "", 0
	for _, d := range f.declarations {
		if declared == "" && slices.ContainsFunc(separate, d.isNamed) || declared != "" && !d.isNamed(declared) {
			kept += text[offset:d.start]
		} else {
			kept += text[offset:d.end]
		}
		offset = d.end
	}
	kept += text[offset:]
	if declared != "" {
		kept = kept[f.codeOffset:]
	}
	return pair{path: "internal/lock/" + file, after: strings.TrimRight(kept, "\n") + "\n"}, nil
}

// separateDeclarations returns the declarations of a file of internal/lock that the table names separately.
func separateDeclarations(file string) (names []string) {
	for _, s := range table() {
		for _, part := range s.NewParts {
			if partFile, name, _ := strings.Cut(part, " "); partFile == file && name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// declarationText returns a function of a Go file with its comment; "" if there is no function of this name.
func declarationText(text, function string) string {
	for _, d := range parseGo(text).declarations {
		if d.isNamed(function) {
			return strings.TrimRight(text[d.start:d.end], "\n") + "\n"
		}
	}
	return ""
}

// commentPattern matches a comment of Go or Lua. It would also match within a string, after a space, but no source has such a string.
var commentPattern = regexp.MustCompile(`(?m)(?:^|[ \t]+)(?://|--).*$`)

// withoutComments returns a text without comments and blank lines.
func withoutComments(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(commentPattern.ReplaceAllString(text, "")) {
		if strings.TrimSpace(line) != "" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
