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

// page is the template of the HTML page, which needs no script and no other file.
//
//go:embed matrix.html
var page string

// HTML returns the matrix as one page, in which a click on a cell shows the reason and the command that reproduces the cell. typed is the
// program's name in commands.
func (m Matrix) HTML(typed string) string {
	b := &strings.Builder{}
	err := template.Must(template.New("matrix").Funcs(template.FuncMap{
		"in": func() language.Language { return m.in }, "say": m.in.Say, "typed": func() string { return typed },
		"title": m.title, "signs": verdict.Signs, "unexpected": m.unexpectedText, "bounds": m.bounds, "observed": m.observed,
	}).Parse(page)).Execute(b, m)
	if err != nil {
		panic(fmt.Sprintf("the matrix: %v", err)) // a bug: it is written into memory
	}
	return b.String()
}

// Widths of the table on a terminal, which fits into 80 columns.
const (
	nameWidth = 28 // width of the anomaly's name, in columns
	cellWidth = 2  // width of a cell, in columns
)

// Width returns the width of the table in columns.
func (m Matrix) Width() int { return nameWidth + cellWidth*len(m.Strategies) }

// Head returns the head of the table for a terminal, with the names of the strategies written downwards.
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

// Line returns a row of the table for a terminal, without a line break.
func (m Matrix) Line(anomaly string) string {
	line := fmt.Sprintf("%-*s", nameWidth, anomaly)
	for _, s := range m.Strategies {
		sign := m.Cells[anomaly][s].Mark()
		line += sign + strings.Repeat(" ", cellWidth-utf8.RuneCountInString(sign))
	}
	return strings.TrimRight(line, " ")
}
