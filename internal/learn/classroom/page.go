package classroom

import (
	"strings"

	"lockstep/internal/learn/course"
)

// Entry is a lesson in the list. Idea is HTML.
type Entry struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Idea   string `json:"idea"`
}

// Page is a lesson: its texts are HTML. The question comes first; a page shows the sections of After once it is answered.
type Page struct {
	Entry
	Predict Section   `json:"predict"`
	Choices []string  `json:"choices"`
	Answer  int       `json:"answer"` // the right choice, counted from 1
	Run     Section   `json:"run"`
	After   []Section `json:"after"`
}

// Section is a part of a lesson, with an id for its heading.
type Section struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	HTML  string `json:"html"`
}

// entryOf returns the entry of a lesson: its title, and the first paragraph of a lesson's idea.
func entryOf(l course.Lesson) Entry {
	idea, _, _ := strings.Cut(l.Idea, "\n\n")
	return Entry{Number: l.Number, Title: l.Title, Idea: toHTML(idea)}
}

func pageOf(l course.Lesson) Page {
	page := Page{Entry: Entry{Number: l.Number, Title: l.Title, Idea: toHTML(l.Idea)}, Answer: l.Answer}
	var sections []Section
	for i, id := range []string{"predict", "run", "see", "explain", "seat", "try", "broken"} {
		sections = append(sections, Section{ID: id, Title: l.Sections[i].Heading, HTML: toHTML(l.Sections[i].Text)})
	}
	page.Predict, page.Run, page.After = sections[course.Predict], sections[course.Run], sections[course.See:]
	for _, choice := range l.Choices {
		page.Choices = append(page.Choices, inline(choice))
	}
	return page
}
