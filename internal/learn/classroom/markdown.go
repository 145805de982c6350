package classroom

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var (
	lessonLink = regexp.MustCompile(`^(\d\d)-[a-z0-9-]+(?:\.zh-CN)?\.md(?:#.*)?$`)
	listLink   = regexp.MustCompile(`^README(?:\.zh-CN)?\.md$`)
	comment    = regexp.MustCompile(`<!--[^\n]*?-->\n?`)
)

const ownAddress = "http://127.0.0.1:8080/" // as the lessons write the page's

// toHTML makes HTML of a lesson's Markdown. HTML within it is left out.
func toHTML(markdown string) string {
	converter := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.CJK),
		goldmark.WithParserOptions(
			parser.WithAutoHeadingID(),
			parser.WithASTTransformers(util.Prioritized(links{}, 0)),
		),
	)
	var html bytes.Buffer
	source := comment.ReplaceAllString(markdown, "")
	if err := converter.Convert([]byte(source), &html); err != nil {
		panic(err) // a buffer takes everything
	}
	return html.String()
}

// inline makes HTML of one paragraph, without its <p>.
func inline(markdown string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(toHTML(markdown)), "<p>"), "</p>")
}

// links makes links of the repository those of the page. What the page does not have is named, and no link.
type links struct{}

// Transform implements parser.ASTTransformer.
func (links) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	var all []*ast.Link
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if link, is := node.(*ast.Link); is && entering {
			all = append(all, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range all {
		to, is := onPage(string(link.Destination))
		if is {
			link.Destination = []byte(to)
		} else {
			unlink(link, to, reader.Source())
		}
	}
}

// onPage returns where a link leads on the page; or the path in the repository, if it leads to no part of the page.
func onPage(destination string) (to string, is bool) {
	switch lesson := lessonLink.FindStringSubmatch(destination); {
	case lesson != nil:
		return "#/course/" + lesson[1], true
	case listLink.MatchString(destination):
		return "#/course", true
	case strings.HasPrefix(destination, ownAddress+"#/"):
		return strings.TrimPrefix(destination, ownAddress), true
	case strings.HasPrefix(destination, "https://"):
		return destination, true
	default:
		return path.Join("docs/course", destination), false
	}
}

// unlink puts the link's text in its place, and the path in parentheses; the path alone, if the text is its beginning.
func unlink(link *ast.Link, name string, source []byte) {
	parent := link.Parent()
	if strings.HasPrefix(name, plainText(link, source)) {
		parent.ReplaceChild(parent, link, ast.NewString([]byte(name)))
		return
	}
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child) // which takes it from the link
	}
	parent.ReplaceChild(parent, link, ast.NewString([]byte(" ("+name+")")))
}

func plainText(node ast.Node, source []byte) string {
	var all strings.Builder
	_ = ast.Walk(node, func(part ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if t, is := part.(*ast.Text); is && entering {
			all.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return all.String()
}
