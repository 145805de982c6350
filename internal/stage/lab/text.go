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
		sign := m.Cells[anomaly][s].Mark()
		line += sign + strings.Repeat(" ", cellWidth-utf8.RuneCountInString(sign))
	}
	return strings.TrimRight(line, " ")
}
