package classroom

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"lockstep/internal/course"
)

// Patterns for relative links between files of the course: to a lesson, with its number as the group, and to the list of lessons.
var (
	lessonLink = regexp.MustCompile(`^(\d\d)-[a-z0-9-]+(?:\.zh-CN)?\.md(?:#.*)?$`)
	listLink   = regexp.MustCompile(`^README(?:\.zh-CN)?\.md$`)
)

// toHTML converts Markdown of a lesson to HTML. It removes HTML that the Markdown contains.
func toHTML(markdown string) string {
	converter := course.Markdown(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(linkRewriter{}, 0)))
	var html bytes.Buffer
	if err := converter.Convert([]byte(markdown), &html); err != nil {
		panic(err) // Writing to a buffer cannot fail.
	}
	return html.String()
}

// inlineHTML converts one paragraph to HTML without the <p> around it.
func inlineHTML(markdown string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(toHTML(markdown)), "<p>"), "</p>")
}

// linkRewriter changes links between files of the repository to links within the page. It replaces a link to a file that the page does not
// have by the file's path, and removes HTML and HTML comments.
type linkRewriter struct{}

// Transform implements parser.ASTTransformer.
func (linkRewriter) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	var affected []ast.Node
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // The function returns no error.
		switch node.(type) {
		case *ast.Link, *ast.RawHTML, *ast.HTMLBlock:
			if entering {
				affected = append(affected, node)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, node := range affected {
		link, ok := node.(*ast.Link)
		if !ok {
			node.Parent().RemoveChild(node.Parent(), node)
		} else if to, isOnPage := pageLink(string(link.Destination)); isOnPage {
			link.Destination = []byte(to)
		} else {
			unlink(link, to, reader.Source())
		}
	}
}

// pageLink returns the address within the page to which a link leads. It returns an https address unchanged. For another link it returns
// the path in the repository, and false.
func pageLink(destination string) (to string, isOnPage bool) {
	switch lesson := lessonLink.FindStringSubmatch(destination); {
	case lesson != nil:
		return "#/course/" + lesson[1], true
	case listLink.MatchString(destination):
		return "#/course", true
	case strings.HasPrefix(destination, course.PageAddress+"#/"):
		return strings.TrimPrefix(destination, course.PageAddress), true
	case strings.HasPrefix(destination, "https://"):
		return destination, true
	default:
		return path.Join("docs/course", destination), false
	}
}

// unlink replaces a link by its text, followed by path in parentheses. If path begins or ends with the text, path replaces the link.
func unlink(link *ast.Link, path string, source []byte) {
	parent := link.Parent()
	if text := plainText(link, source); strings.HasPrefix(path, text) || strings.HasSuffix(path, text) {
		parent.ReplaceChild(parent, link, ast.NewString([]byte(path)))
		return
	}
	suffix := " (" + path + ")"
	if before, ok := link.PreviousSibling().(*ast.Text); ok { // Avoid parentheses within parentheses.
		switch text := string(before.Value(source)); {
		case strings.HasSuffix(text, "("):
			suffix = ", " + path
		case strings.HasSuffix(text, "（"):
			suffix = "，" + path
		}
	}
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child) // InsertBefore removes the child from the link.
	}
	parent.ReplaceChild(parent, link, ast.NewString([]byte(suffix)))
}

// plainText returns the text of a node without markup.
func plainText(node ast.Node, source []byte) string {
	var all strings.Builder
	_ = ast.Walk(node, func(part ast.Node, entering bool) (ast.WalkStatus, error) { // The function returns no error.
		if t, ok := part.(*ast.Text); ok && entering {
			all.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return all.String()
}
