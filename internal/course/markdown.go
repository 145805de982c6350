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

// Markdown returns a parser and renderer of the Markdown of lessons.
func Markdown(options ...parser.Option) goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.CJK), goldmark.WithParserOptions(options...))
}

// block is one block of Markdown: a paragraph, a heading, a list, a table, or code.
type block struct {
	node     ast.Node
	source   []byte // Markdown of the whole text
	markdown string // Markdown of the block
	comment  string // text of the HTML comment above the block; "": none
}

// blocks are the blocks of a text or of a section, in order.
type blocks []block

// parseBlocks splits a text into its blocks.
func parseBlocks(markdown string) (all blocks) {
	source, comment := []byte(markdown), ""
	for node := Markdown().Parser().Parse(text.NewReader(source)).FirstChild(); node != nil; node = node.NextSibling() {
		to := len(source)
		if next := node.NextSibling(); next != nil {
			to = next.Pos()
		}
		written := strings.TrimSpace(markdown[node.Pos():to])
		if text, ok := strings.CutPrefix(written, "<!-- "); ok && strings.HasSuffix(text, " -->") {
			comment = strings.TrimSuffix(text, " -->")
			continue
		}
		all, comment = append(all, block{node, source, written, comment}), ""
	}
	return all
}

// text returns the Markdown of the blocks.
func (s blocks) text() string {
	var all []string
	for _, b := range s {
		if b.comment != "" {
			b.markdown = "<!-- " + b.comment + " -->\n" + b.markdown
		}
		all = append(all, b.markdown)
	}
	return strings.Join(all, "\n\n")
}

// last returns the last block, or the zero block of an empty list.
func (s blocks) last() block {
	if len(s) == 0 {
		return block{}
	}
	return s[len(s)-1]
}

// isHeading reports whether the block is a heading of this level: "#" is level 1.
func (b block) isHeading(level int) bool {
	heading, ok := b.node.(*ast.Heading)
	return ok && heading.Level == level
}

// code returns the code of the block. ok is false if the block is not a fenced code block in one of these languages.
func (b block) code(languages ...string) (text string, ok bool) {
	code, ok := b.node.(*ast.FencedCodeBlock)
	if !ok || !slices.Contains(languages, string(code.Language(b.source))) {
		return "", false
	}
	return string(code.Lines().Value(b.source)), true
}

// items returns the items of a numbered list; nil for other blocks.
func (b block) items() (items []string) {
	if list, ok := b.node.(*ast.List); ok && list.IsOrdered() {
		for item := list.FirstChild(); item != nil; item = item.NextSibling() {
			items = append(items, string(item.FirstChild().Lines().Value(b.source)))
		}
	}
	return items
}

// link returns the destination of the first link of a paragraph; "" if there is none.
func (b block) link() string {
	for node := b.node.FirstChild(); node != nil; node = node.NextSibling() {
		if link, ok := node.(*ast.Link); ok {
			return string(link.Destination)
		}
	}
	return ""
}

// Plain formats Markdown for a terminal: without markup, and wrapped at this number of columns.
func Plain(markdown string, columns int) string {
	var all []string
	for _, b := range parseBlocks(markdown) {
		all = append(all, strings.Join(b.plain(columns), "\n"))
	}
	return strings.Join(all, "\n\n")
}

// plain returns the lines of the block for a terminal with this number of columns.
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
			lines = append(lines, trace.Wrap(string(mark)+inlineText(text, b.source), columns, "")...)
		}
	case *table.Table:
		for row := node.FirstChild(); row != nil; row = row.NextSibling() {
			line := "|"
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				line += strings.TrimRight(" "+inlineText(cell, b.source), " ") + " |"
			}
			lines = append(lines, line)
			if row.Kind() == table.KindTableHeader {
				lines = append(lines, "|"+strings.Repeat("---|", row.ChildCount()))
			}
		}
	default:
		for line := range strings.SplitSeq(inlineText(b.node, b.source), "\n") {
			lines = append(lines, trace.Wrap(line, columns, "")...)
		}
	}
	return lines
}

// inlineText returns the text of a paragraph without markup. It keeps the destinations of links that are web addresses.
func inlineText(paragraph ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(paragraph, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // The function returns no error.
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
