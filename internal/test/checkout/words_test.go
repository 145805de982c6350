package checkout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"unicode"
)

// What people read is written in a words.go: no other file of the explorer, or of the rooms that teach, has a sentence in two languages.
func TestSentencesAreInTheWordsOfTheirRoom(t *testing.T) {
	elsewhere := map[string]string{
		"internal/learn/course/parse.go":    "the headings that a lesson has",
		"internal/learn/doctor/checks.go":   "each check with what it says",
		"internal/learn/figures/figures.go": "the one file of its room",
		"internal/learn/site/site.go":       "the one list of its programs",
		"internal/learn/site/handler.go":    "an answer in both languages at once",
	}
	for _, room := range []string{"internal/explore", "internal/learn", "internal/trace"} {
		err := fs.WalkDir(os.DirFS("."), room, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(path.Base(file), "words") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				text, is := n.(*ast.BasicLit)
				if is && strings.ContainsFunc(text.Value, func(r rune) bool { return unicode.Is(unicode.Han, r) }) && elsewhere[file] == "" {
					t.Errorf("%s: %s; want it in words.go of a room that people read", file, text.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
