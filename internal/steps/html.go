package steps

import (
	"fmt"
	"html"
	"strings"

	"lockstep/internal/language"
)

// style is the style sheet. The page needs nothing else: no script, no font, no third party.
const style = `:root{color-scheme:light dark;--ink:#1d2733;--soft:#5a6673;--back:#fff;--line:#d5dbe2;
--del:#fbe3e0;--ins:#e0f4e4;--out:#f2aea5;--in:#9bdcab}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9ef;--soft:#9aa7b4;--back:#14181d;--line:#39434e;
--del:#3d1d1a;--ins:#16301d;--out:#7a2c25;--in:#1f5a30}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:1.5rem auto;padding:0 1rem;max-width:70rem}
h1{font-size:1.5rem}p{margin:.3rem 0}code,pre{font:13px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
details{border:1px solid var(--line);border-radius:6px;margin:1rem 0}summary{cursor:pointer;padding:.4rem .7rem}
summary small,.far summary{color:var(--soft)}.far,.far details{border:0;margin:0}.far summary{padding:0 .7rem}
pre{margin:0;padding:.3rem 0;white-space:pre-wrap;tab-size:4}
ins,del,.same{display:block;text-decoration:none;padding-left:calc(2ch + var(--deep,4)*1ch);text-indent:calc(-1*var(--deep,4)*1ch - 2ch)}
ins{background:var(--ins)}del{background:var(--del)}ins mark{background:var(--in)}del mark{background:var(--out)}mark{color:inherit}
`

// HTML formats the step as one HTML file with the content of Text. Lines far from every change are folded. typed is the name of the program
// in commands.
func (d Detail) HTML(typed string, in language.Language) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "<!doctype html>\n<html lang=\"%s\">\n<meta charset=\"utf-8\">\n", in)
	fmt.Fprint(b, "<meta name=\"viewport\" content=\"width=device-width\">\n")
	fmt.Fprintf(b, "<title>%s</title>\n<style>\n%s</style>\n<h1>%[1]s</h1>\n", html.EscapeString(d.heading(in)), style)
	for _, text := range d.summary(in) {
		fmt.Fprintf(b, "<p>%s</p>\n", html.EscapeString(text))
	}
	for _, command := range d.commands() {
		fmt.Fprintf(b, "<p><code>%s</code></p>\n", html.EscapeString(typed+" "+command))
	}
	for _, f := range d.Files {
		f.writeHTML(b, in)
	}
	fmt.Fprintf(b, "<p>%s</p>\n</html>\n", d.totalText(in))
	return b.String()
}

// writeHTML writes the lines of a file. Lines far from every change are folded.
func (f File) writeHTML(b *strings.Builder, in language.Language) {
	open := " open"
	if f.Head {
		open = ""
	}
	fmt.Fprintf(b, "<details%s><summary><code>%s</code> %s <small>%s</small></summary>\n<pre>",
		open, f.Name, strings.Join(f.counts(), " "), f.Note)
	for _, part := range fold(f.Lines) {
		if part.hidden {
			fmt.Fprintf(b, "</pre><details class=\"far\"><summary>⋯ %s</summary><pre>", unchangedText(len(part.lines), in))
		}
		for _, line := range part.lines {
			line.writeHTML(b)
		}
		if part.hidden {
			fmt.Fprint(b, "</pre></details><pre>")
		}
	}
	fmt.Fprint(b, "</pre></details>\n")
}

// writeHTML writes a line as a block element. If the line does not fit, it continues indented.
func (l Line) writeHTML(b *strings.Builder) {
	element := map[string]string{Removed: "del", Added: "ins", Same: `span class="same"`}[l.Kind]
	sign := map[string]string{Removed: "−", Added: "+", Same: " "}[l.Kind]
	text, mark := expandTabs(l)
	escape := func(from, to int) string { return html.EscapeString(string(text[from:to])) }
	marked := escape(mark[0], mark[1])
	if marked != "" {
		marked = "<mark>" + marked + "</mark>"
	}
	fmt.Fprintf(b, "<%s style=\"--deep:%d\">%s %s%s%s</%s>", element, indentation(text)+tabWidth, sign, escape(0, mark[0]), marked,
		escape(mark[1], len(text)), strings.Fields(element)[0])
}
