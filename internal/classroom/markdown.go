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

var (
	lessonLink = regexp.MustCompile(`^(\d\d)-[a-z0-9-]+(?:\.zh-CN)?\.md(?:#.*)?$`)
	listLink   = regexp.MustCompile(`^README(?:\.zh-CN)?\.md$`)
)

// toHTML makes HTML of a lesson's Markdown. HTML within it is left out.
func toHTML(markdown string) string {
	converter := course.Markdown(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(ofPage{}, 0)))
	var html bytes.Buffer
	if err := converter.Convert([]byte(markdown), &html); err != nil {
		panic(err) // a buffer takes everything
	}
	return html.String()
}

// inline makes HTML of one paragraph, without its <p>.
func inline(markdown string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(toHTML(markdown)), "<p>"), "</p>")
}

// ofPage makes links of the repository those of the page: what the page does not have is named, and no link. Comments go.
type ofPage struct{}

// Transform implements parser.ASTTransformer.
func (ofPage) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	var change []ast.Node
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch node.(type) {
		case *ast.Link, *ast.RawHTML, *ast.HTMLBlock:
			if entering {
				change = append(change, node)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, node := range change {
		link, is := node.(*ast.Link)
		if !is {
			node.Parent().RemoveChild(node.Parent(), node)
		} else if to, is := onPage(string(link.Destination)); is {
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
	case strings.HasPrefix(destination, course.PageAddress+"#/"):
		return strings.TrimPrefix(destination, course.PageAddress), true
	case strings.HasPrefix(destination, "https://"):
		return destination, true
	default:
		return path.Join("docs/course", destination), false
	}
}

// unlink puts the link's text in its place, and the path behind it; the path alone, if the text is its beginning or its end.
func unlink(link *ast.Link, name string, source []byte) {
	parent := link.Parent()
	if said := plainText(link, source); strings.HasPrefix(name, said) || strings.HasSuffix(name, said) {
		parent.ReplaceChild(parent, link, ast.NewString([]byte(name)))
		return
	}
	behind := " (" + name + ")"
	if before, is := link.PreviousSibling().(*ast.Text); is { // in parentheses already?
		switch said := string(before.Value(source)); {
		case strings.HasSuffix(said, "("):
			behind = ", " + name
		case strings.HasSuffix(said, "（"):
			behind = "，" + name
		}
	}
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child) // which takes it from the link
	}
	parent.ReplaceChild(parent, link, ast.NewString([]byte(behind)))
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
