package lab

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"

	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// page needs no script, no font, nothing of a third party.
//
//go:embed matrix.html
var page string

// HTML writes the matrix as one file: a click on a cell says why, and by which command it is seen.
func (m Matrix) HTML(typed string) string {
	b := &strings.Builder{}
	err := template.Must(template.New("matrix").Funcs(template.FuncMap{
		"in": func() language.Language { return m.in }, "say": m.in.Say, "typed": func() string { return typed },
		"title": m.title, "signs": verdict.Signs, "unlike": m.unlike, "bounds": m.bounds, "observed": m.observed,
	}).Parse(page)).Execute(b, m)
	if err != nil {
		panic(fmt.Sprintf("the matrix: %v", err)) // a bug: it is written into memory
	}
	return b.String()
}

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
			text += fmt.Sprintf("%-*c", cellWidth, fmt.Sprintf("%*s", tallest, s)[line])
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
