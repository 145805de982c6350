package workshop

import (
	"fmt"
	"regexp"

	"lockstep/exercises"
	"lockstep/internal/language"
)

// The form of an exercise's page: title, links, story and claim; and the hints.
var (
	pageBegins = regexp.MustCompile(`^# \S+ \d\d[:：] ?(.+)\n\n.+\n\n(.+)\n\n\*\*[^*]+\*\* (.+)\n`)
	pageHint   = regexp.MustCompile(`</summary>\n\n(.+)\n\n</details>`)
)

// read takes the texts from the exercise's pages.
func (e *Exercise) read() {
	english, chinese := e.page("README.md"), e.page("README.zh-CN.md")
	texts := make([]language.Text, len(english))
	for i := range texts {
		texts[i] = language.Both(english[i], chinese[i])
	}
	e.Title, e.Story, e.Claim, e.Hints = texts[0], texts[1], texts[2], texts[3:]
}

// page returns title, story, claim and hints, as one of the exercise's pages has them.
func (e *Exercise) page(file string) []string {
	text, err := exercises.Pages.ReadFile(e.ID() + "/" + file)
	begins, hints := pageBegins.FindStringSubmatch(string(text)), pageHint.FindAllStringSubmatch(string(text), -1)
	if begins == nil || len(hints) != HintsEach {
		panic(fmt.Sprintf("%s/%s is not of the form that it has to have: %v", e.Dir(), file, err)) // it is part of the program
	}
	parts := begins[1:]
	for _, hint := range hints {
		parts = append(parts, hint[1])
	}
	return parts
}
