package course

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"lockstep/internal/trace"
)

// Markdown reads the Markdown of lessons.
func Markdown(options ...parser.Option) goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.CJK), goldmark.WithParserOptions(options...))
}

// block is a piece of a text: a paragraph, a heading, a list, a table, or code.
type block struct {
	node    ast.Node
	source  []byte // of the whole text
	written string // the block alone
	comment string // what stands above it: <!-- comment -->
}

// blocks are those of a text, or of a section.
type blocks []block

// blocksOf parses a text.
func blocksOf(markdown string) (all blocks) {
	source, comment := []byte(markdown), ""
	for node := Markdown().Parser().Parse(text.NewReader(source)).FirstChild(); node != nil; node = node.NextSibling() {
		to := len(source)
		if next := node.NextSibling(); next != nil {
			to = next.Pos()
		}
		written := strings.TrimSpace(markdown[node.Pos():to])
		if said, is := strings.CutPrefix(written, "<!-- "); is && strings.HasSuffix(said, " -->") {
			comment = strings.TrimSuffix(said, " -->")
			continue
		}
		all, comment = append(all, block{node, source, written, comment}), ""
	}
	return all
}

// text returns blocks as they stand in a lesson.
func (s blocks) text() string {
	var all []string
	for _, b := range s {
		if b.comment != "" {
			b.written = "<!-- " + b.comment + " -->\n" + b.written
		}
		all = append(all, b.written)
	}
	return strings.Join(all, "\n\n")
}

// last returns the last block; the zero block if there is none.
func (s blocks) last() block {
	if len(s) == 0 {
		return block{}
	}
	return s[len(s)-1]
}

// isHeading reports whether a block is a heading of a level, as # is of 1.
func (b block) isHeading(level int) bool {
	heading, is := b.node.(*ast.Heading)
	return is && heading.Level == level
}

// code returns a block's code, if it is in one of these languages.
func (b block) code(languages ...string) (text string, is bool) {
	code, is := b.node.(*ast.FencedCodeBlock)
	if !is || !slices.Contains(languages, string(code.Language(b.source))) {
		return "", false
	}
	return string(code.Lines().Value(b.source)), true
}

// items returns those of a numbered list.
func (b block) items() (items []string) {
	if list, is := b.node.(*ast.List); is && list.IsOrdered() {
		for item := list.FirstChild(); item != nil; item = item.NextSibling() {
			items = append(items, string(item.FirstChild().Lines().Value(b.source)))
		}
	}
	return items
}

// link returns where the first link of a paragraph leads; "" if there is none.
func (b block) link() string {
	for node := b.node.FirstChild(); node != nil; node = node.NextSibling() {
		if link, is := node.(*ast.Link); is {
			return string(link.Destination)
		}
	}
	return ""
}

// Plain writes a text of a lesson for a terminal: without marks, and its paragraphs no wider than so many columns.
func Plain(markdown string, columns int) string {
	var all []string
	for _, b := range blocksOf(markdown) {
		all = append(all, strings.Join(b.plain(columns), "\n"))
	}
	return strings.Join(all, "\n\n")
}

func (b block) plain(columns int) (lines []string) {
	switch node := b.node.(type) {
	case *ast.FencedCodeBlock:
		for line := range strings.Lines(string(node.Lines().Value(b.source))) {
			lines = append(lines, "  "+strings.TrimSuffix(line, "\n"))
		}
	case *ast.List:
		for item := node.FirstChild(); item != nil; item = item.NextSibling() {
			text := item.FirstChild()
			mark := b.source[item.Pos():text.Pos()]
			lines = append(lines, trace.Wrap(string(mark)+inline(text, b.source), columns, "")...)
		}
	case *table.Table:
		for row := node.FirstChild(); row != nil; row = row.NextSibling() {
			line := "|"
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				line += strings.TrimRight(" "+inline(cell, b.source), " ") + " |"
			}
			lines = append(lines, line)
			if row.Kind() == table.KindTableHeader {
				lines = append(lines, "|"+strings.Repeat("---|", row.ChildCount()))
			}
		}
	default:
		for line := range strings.SplitSeq(inline(b.node, b.source), "\n") {
			lines = append(lines, trace.Wrap(line, columns, "")...)
		}
	}
	return lines
}

// inline writes what is in a paragraph without its marks. The address of a link is only of use outside of the repository.
func inline(paragraph ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(paragraph, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch node := node.(type) {
		case *ast.Text:
			if entering {
				b.Write(node.Value(source))
			}
			if entering && (node.SoftLineBreak() || node.HardLineBreak()) {
				b.WriteByte('\n')
			}
		case *ast.Link:
			if to := string(node.Destination); !entering && strings.HasPrefix(to, "http") {
				fmt.Fprintf(&b, " (%s)", to)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
