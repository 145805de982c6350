package lab

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lockstep/internal/lock/verdict"
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
	mark := c.Observed.Sign().Mark
	if c.unlike() {
		mark += "!"
	}
	return mark
}

// Legend says what the signs mean.
func (m Matrix) Legend() string {
	text := ""
	for _, s := range verdict.Signs() {
		text += s.Mark + " " + s.Word.In(m.in) + "  "
	}
	return text + "! " + m.unlike() + "\n" + m.bounds()
}

// bounds says how far a cell of a lab goes.
func (m Matrix) bounds() string {
	return m.in.Say(
		"✓ of a lab: one fault at one time did no harm; at another time it may. Of an exploration: in no order of two sales' commands.",
		"✓ 对实验来说：一种故障在一个时机没有造成问题，换个时机可能会。对探索来说：两单的命令的任何顺序都不会。")
}

// observed counts the cells of which that was observed.
func (m Matrix) observed(o verdict.Verdict) int {
	return m.Count(func(c Cell) bool { return c.Observed == o })
}

// unlike says that a cell is not as expected.
func (m Matrix) unlike() string { return m.in.Say("not as expected", "与预期不符") }

// expected says what was expected of a cell.
func (m Matrix) expected(c Cell) string {
	return m.in.Say("expected: ", "预期：") + c.Expected.In(m.in)
}

// Summary counts the cells.
func (m Matrix) Summary() string {
	return m.in.Say("%d cells: %d broken, %d holds, %d unknown, %d n/a, %d not run, %d not as expected",
		"共 %d 格：%d 会发生，%d 不会发生，%d 未知，%d 不适用，%d 未运行，%d 格与预期不符",
		m.Count(func(Cell) bool { return true }),
		m.observed(verdict.Broken), m.observed(verdict.Holds), m.observed(verdict.Unknown), m.observed(verdict.NA), m.observed(""),
		m.Count(Cell.unlike))
}

// Outcome tells in a line what a cell's run has shown.
func (m Matrix) Outcome(c Cell) string {
	says := c.Observed.In(m.in)
	if c.unlike() {
		says += m.in.Say(", ", "，") + m.unlike() + m.in.Say(": ", "：") + m.expected(c)
	}
	says += m.in.Say(" (%.1f s)", " (%.1f 秒)", c.Seconds)
	for _, text := range []string{c.Says, c.NotRun} {
		if text != "" {
			says += m.in.Say(": ", "：") + text
		}
	}
	return says
}
