package checkout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openingWords are the prepositions, pronouns and conjunctions that a trailing comment should not begin with: such a comment cannot be read
// without the line before it.
var openingWords = strings.Fields(`about after against among and as at because before below beside between both but by during else for from
	how if in into it its nor of on once one or over since so that their them then there these they this those though through till to
	under unless until what when where whether which while who whom whose with within without`)

// mostElliptic is the largest share of trailing comments that begin with an opening word: some phrases of time ("after the reply") are
// clear and short.
const mostElliptic = 0.08

func TestTrailingCommentsStandAlone(t *testing.T) {
	opening := map[string]bool{}
	for _, word := range openingWords {
		opening[word] = true
	}
	all, elliptic := 0, []string{}
	for _, f := range goFiles(t) {
		if f.isTest {
			continue
		}
		lines := strings.Split(f.text, "\n")
		for _, group := range f.syntax.Comments {
			at := f.set.Position(group.Pos())
			if before := strings.TrimSpace(lines[at.Line-1][:at.Column-1]); before == "" || before == "}" {
				continue
			}
			text := strings.TrimSpace(strings.TrimPrefix(group.List[0].Text, "//"))
			if text == "" || strings.HasPrefix(text, "nolint") {
				continue
			}
			all++
			first, _, _ := strings.Cut(text, " ")
			if opening[strings.ToLower(strings.Trim(first, ".,:;"))] {
				elliptic = append(elliptic, at.String()+": "+text)
			}
		}
	}
	if share := float64(len(elliptic)) / float64(all); share > mostElliptic {
		t.Errorf("%d of %d trailing comments begin with a preposition, a pronoun or a conjunction (%.1f %%), want at most %.0f %%:\n%s",
			len(elliptic), all, 100*share, 100*mostElliptic, strings.Join(elliptic, "\n"))
	}
}

// The second result of a map, a channel, a type assertion is called ok, or not at all, in the code of the program.
func TestCommaOkIsCalledOk(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.isTest {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			assign, isAssignment := n.(*ast.AssignStmt)
			if !isAssignment || len(assign.Lhs) != 2 || len(assign.Rhs) != 1 || assign.Tok != token.DEFINE {
				return true
			}
			switch source := assign.Rhs[0].(type) {
			case *ast.IndexExpr, *ast.TypeAssertExpr:
			case *ast.UnaryExpr:
				if source.Op != token.ARROW {
					return true
				}
			default:
				return true
			}
			if name, isName := assign.Lhs[1].(*ast.Ident); isName && name.Name != "ok" && name.Name != "_" && !hasPredicateName(name.Name) {
				t.Errorf("%s: %s, want ok, or a predicate", f.set.Position(name.Pos()), name.Name)
			}
			return true
		})
	}
}

// hasPredicateName reports whether a name reads as a question: isName, hasTTL, canSell.
func hasPredicateName(name string) bool {
	for _, prefix := range []string{"is", "has", "can", "was"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && strings.ToUpper(rest[:1]) == rest[:1] {
			return true
		}
	}
	return false
}

// A doc comment begins with the name that it documents, as go doc expects. A comment that does not is often left over from a rename.
func TestDocCommentsBeginWithTheName(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, declaration := range f.syntax.Decls {
			name, doc := documented(declaration)
			if doc == nil {
				continue
			}
			words := strings.Fields(doc.Text())
			if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
				words = words[1:]
			}
			if len(words) > 0 && !strings.HasPrefix(words[0], name) {
				t.Errorf("%v: the comment of %s begins with %q", f.set.Position(doc.Pos()), name, words[0])
			}
		}
	}
}

// documented returns the name and the doc comment of a declaration of one name. The comment is nil if there is none, and for test
// functions, whose comment says what holds.
func documented(declaration ast.Decl) (name string, doc *ast.CommentGroup) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
			if d.Recv == nil && strings.HasPrefix(d.Name.Name, prefix) {
				return "", nil
			}
		}
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		if d.Tok == token.IMPORT || len(d.Specs) != 1 || d.Lparen.IsValid() {
			return "", nil
		}
		switch spec := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return spec.Name.Name, d.Doc
		case *ast.ValueSpec:
			if len(spec.Names) == 1 {
				return spec.Names[0].Name, d.Doc
			}
		}
	}
	return "", nil
}

// goFile is a parsed Go file.
type goFile struct {
	isTest bool
	set    *token.FileSet
	syntax *ast.File
	text   string
}

// goFiles parses all Go files of the repository.
func goFiles(t *testing.T) (files []goFile) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		files = append(files, goFile{strings.HasSuffix(name, "_test.go"), set, syntax, string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
