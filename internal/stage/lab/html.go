package lab

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock/verdict"
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
