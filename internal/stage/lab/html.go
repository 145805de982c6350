package lab

import (
	"fmt"
	"html"
	"strings"

	"lockstep/internal/lock/verdict"
)

// style is all that the page needs: no script, no font, nothing of a third party.
const style = `:root{color-scheme:light dark;--ink:#1d2733;--back:#fff;--line:#d5dbe2;
--broken:#f7c5bf;--holds:#c4e8cb;--unknown:#f6e3a1;--na:#eef1f4}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9ef;--back:#14181d;--line:#39434e;
--broken:#7a2c25;--holds:#1f5a30;--unknown:#6b5716;--na:#20262d}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:1.5rem}
table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:0;text-align:center;vertical-align:top}
thead th{writing-mode:vertical-rl;transform:rotate(180deg);padding:.5rem .2rem;text-align:left;font-weight:600}
thead th:first-child{writing-mode:horizontal-tb;transform:none;vertical-align:bottom}
tbody th{text-align:left;font-weight:400;padding:.2rem .6rem;min-width:14rem;max-width:20rem}tbody th small{display:block;opacity:.75}
td{position:relative}
summary{list-style:none;cursor:pointer;padding:.35rem;min-width:1.6rem;font-weight:700}summary::-webkit-details-marker{display:none}
.broken{background:var(--broken)}.holds{background:var(--holds)}.unknown{background:var(--unknown)}
.na{background:var(--na)}.notrun{opacity:.6}
.wrong{outline:3px solid #d0342c;outline-offset:-3px}
details>div{position:absolute;z-index:1;right:0;width:22rem;max-width:80vw;padding:.7rem .9rem;text-align:left;background:var(--back);
border:1px solid var(--line);box-shadow:0 4px 16px #0004}details p{margin:.3rem 0}code{font-size:.9em;overflow-wrap:anywhere}
.key span{display:inline-block;padding:.15rem .6rem;margin:0 .4rem .4rem 0}
`

// HTML writes the matrix as one file: a click on a cell says why, and by which command it is seen.
func (m Matrix) HTML(typed string) string {
	b, title := &strings.Builder{}, m.in.Say("The matrix", "矩阵")
	fmt.Fprintf(b, "<!doctype html>\n<html lang=\"%s\">\n<meta charset=\"utf-8\">\n", m.in)
	fmt.Fprint(b, "<meta name=\"viewport\" content=\"width=device-width\">\n")
	fmt.Fprintf(b, "<title>lockstep%s%s</title>\n<style>\n%s</style>\n", m.in.Say(": ", "："), title, style)
	fmt.Fprintf(b, "<h1>%s</h1>\n<p>%s</p>\n<p class=\"key\">", title, html.EscapeString(m.Summary()))
	for _, s := range verdict.Signs() {
		fmt.Fprintf(b, "<span class=\"%s\">%s %s</span>", s.Class, s.Mark, s.Word.In(m.in))
	}
	fmt.Fprintf(b, "<span class=\"wrong\">%s</span>", m.unlike())
	fmt.Fprintf(b, "</p>\n<p>%s</p>\n<table>\n<thead><tr><th>%s</th>", m.bounds(), m.in.Say("anomaly", "异常"))
	for _, s := range m.Strategies {
		fmt.Fprintf(b, "<th>%s</th>", s)
	}
	fmt.Fprintln(b, "</tr></thead>\n<tbody>")
	for _, a := range m.Anomalies {
		fmt.Fprintf(b, "<tr><th>%s<small>%s</small></th>\n", a.Name, html.EscapeString(a.Claim))
		for _, s := range m.Strategies {
			m.cellHTML(b, a.Name, s, typed)
		}
		fmt.Fprintln(b, "</tr>")
	}
	fmt.Fprint(b, "</tbody>\n</table>\n</html>\n")
	return b.String()
}

// cellHTML writes one cell, with what a click on it shows.
func (m Matrix) cellHTML(b *strings.Builder, anomaly, strategy, typed string) {
	c := m.Cells[anomaly][strategy]
	classes, says := c.Observed.Sign().Class, c.Observed.In(m.in)
	if c.unlike() {
		classes += " wrong"
	}
	if !c.AsExpected() {
		says += m.in.Say(", ", "，") + m.expected(c)
	}
	fmt.Fprintf(b, "<td class=\"%s\"><details name=\"cell\"><summary>%s</summary><div><p><b>%s, %s%s%s</b></p>",
		classes, c.mark(), anomaly, strategy, m.in.Say(": ", "："), says)
	for _, text := range []string{c.Why, c.Says, c.NotRun} {
		if text != "" {
			fmt.Fprintf(b, "<p>%s</p>", html.EscapeString(text))
		}
	}
	if c.How != "" {
		fmt.Fprintf(b, "<p><code>%s</code></p>", html.EscapeString(typed+" "+c.How))
	}
	fmt.Fprintln(b, "</div></details></td>")
}
