package lab

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// widths of a table for a terminal: it fits into 80 columns.
const (
	nameWidth = 28
	cellWidth = 2
)

// Width counts the columns that the table takes.
func (m Matrix) Width() int { return nameWidth + cellWidth*len(m.Strategies) }

// Head gives the head of a table for a terminal: the names of the strategies, from above.
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

// Line gives a row of that table, without its end.
func (m Matrix) Line(anomaly string) string {
	line := fmt.Sprintf("%-*s", nameWidth, anomaly)
	for _, s := range m.Strategies {
		sign := m.Cells[anomaly][s].mark()
		line += sign + strings.Repeat(" ", cellWidth-utf8.RuneCountInString(sign))
	}
	return strings.TrimRight(line, " ")
}

// mark says in a sign or two what the cell is.
func (c Cell) mark() string {
	if c.Ran() && !c.AsExpected() {
		return c.Observed.mark() + "!"
	}
	return c.Observed.mark()
}

// Legend says what the signs mean.
func (m Matrix) Legend() string {
	var all []string
	for _, o := range observations() {
		all = append(all, o.mark()+" "+o.In(m.in))
	}
	return strings.Join(append(all, "! "+m.unlike()), "  ")
}

// unlike says that a cell is not as expected.
func (m Matrix) unlike() string { return m.say("not as expected", "与预期不符") }

// expected says what was expected of a cell.
func (m Matrix) expected(c Cell) string {
	return m.say("expected: ", "预期：") + c.Expected.In(m.in)
}

// Summary counts the cells.
func (m Matrix) Summary() string {
	count := func(o Observed) int { return m.Count(func(c Cell) bool { return c.Observed == o }) }
	format := m.say("%d cells: %d broken, %d holds, %d unknown, %d n/a, %d not run, %d not as expected",
		"共 %d 格：%d 会发生，%d 不会发生，%d 未知，%d 不适用，%d 未运行，%d 格与预期不符")
	return fmt.Sprintf(format, m.Count(func(Cell) bool { return true }), count(Broken), count(Holds), count(Unknown), count(NA), count(""),
		m.Count(func(c Cell) bool { return c.Ran() && !c.AsExpected() }))
}

// Outcome tells in a line what a cell's run has shown.
func (m Matrix) Outcome(c Cell) string {
	says := c.Observed.In(m.in)
	if c.Ran() && !c.AsExpected() {
		says += m.say(", ", "，") + m.unlike() + m.say(": ", "：") + m.expected(c)
	}
	says += fmt.Sprintf(m.say(" (%.1f s)", " (%.1f 秒)"), c.Seconds)
	for _, text := range []string{c.Says, c.NotRun} {
		if text != "" {
			says += m.say(": ", "：") + text
		}
	}
	return says
}
