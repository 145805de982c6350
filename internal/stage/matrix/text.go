package matrix

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

// widths of a table for a terminal: it fits into 80 columns.
const (
	nameWidth = 28
	cellWidth = 2
)

// Width is how many columns the table takes.
func (m Matrix) Width() int { return nameWidth + cellWidth*len(m.Strategies) }

// Head is the head of a table for a terminal: the names of the strategies, from above.
func (m Matrix) Head() string {
	tallest := 0
	for _, s := range m.Strategies {
		tallest = max(tallest, len(s))
	}
	b := &strings.Builder{}
	for line := range tallest {
		text := strings.Repeat(" ", nameWidth)
		for _, s := range m.Strategies {
			sign := " "
			if above := tallest - len(s); line >= above {
				sign = s[line-above : line-above+1]
			}
			text += sign + strings.Repeat(" ", cellWidth-1)
		}
		fmt.Fprintln(b, strings.TrimRight(text, " "))
	}
	return b.String()
}

// Line is a row of that table, without its end.
func (m Matrix) Line(anomaly string) string {
	line := fmt.Sprintf("%-*s", nameWidth, anomaly)
	for _, s := range m.Strategies {
		sign := m.Cells[anomaly][s].marked()
		line += sign + strings.Repeat(" ", cellWidth-utf8.RuneCountInString(sign))
	}
	return strings.TrimRight(line, " ")
}

// Legend says what the signs mean.
func Legend(in language.Language) string {
	var all []string
	for _, o := range marks() {
		all = append(all, mark(o)+" "+wordsIn(in).observed(o))
	}
	return strings.Join(append(all, "! "+wordsIn(in).unlike), "  ")
}

// Summary counts the cells.
func (m Matrix) Summary(in language.Language) string {
	w := wordsIn(in)
	count := func(o lab.Observed) int { return m.Count(func(c Cell) bool { return c.Observed == o }) }
	text := fmt.Sprintf(w.summary, m.Count(func(Cell) bool { return true }),
		count(lab.Broken), count(lab.Holds), count(lab.Unknown), count(lab.NA), count(""))
	return text + w.comma + fmt.Sprintf(w.notAsExpected, m.Count(func(c Cell) bool { return c.Ran() && !c.AsExpected() }))
}

// Outcome says in a line what became of a cell.
func Outcome(c Cell, in language.Language) string {
	w := wordsIn(in)
	says := w.observed(c.Observed)
	if c.Ran() && !c.AsExpected() {
		says += w.comma + w.unlike + w.colon + fmt.Sprintf(w.expected, w.observed(c.Expected))
	}
	says += " (" + fmt.Sprintf(w.took, c.Seconds) + ")"
	for _, text := range []string{c.Says, translate(in, c.NotRun)} {
		if text != "" {
			says += w.colon + text
		}
	}
	return says
}
