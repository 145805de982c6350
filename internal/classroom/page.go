package classroom

import (
	"slices"
	"strings"

	"lockstep/internal/course"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// Entry is a lesson in the list. Idea and Sketch are HTML.
type Entry struct {
	Number int      `json:"number"`
	Title  string   `json:"title"`
	Idea   string   `json:"idea"`
	Labs   []string `json:"labs,omitempty"`   // that it runs, by name
	Sketch string   `json:"sketch,omitempty"` // its schedule, drawn small
}

// Page is a lesson: its texts are HTML. The question comes first; a page shows the sections of After once it is answered. Run is with what
// its command prints; See is the heading of that.
type Page struct {
	Entry
	Predict Section   `json:"predict"`
	Choices []string  `json:"choices"`
	Answer  int       `json:"answer"` // the right choice, counted from 1
	Run     Section   `json:"run"`
	See     Section   `json:"see"`
	After   []Section `json:"after"`
	Seat    string    `json:"seat"` // the schedule that a reader is given, as its address
}

// Section is a part of a lesson, with an id for its heading.
type Section struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Parts []Part `json:"parts"`
}

// Part is prose; or commands, after what leads to them. What is printed is no HTML, but text.
type Part struct {
	HTML     string    `json:"html"`
	Terminal bool      `json:"terminal,omitempty"` // it is about the terminal
	Commands []Command `json:"commands,omitempty"`
	Printed  string    `json:"printed,omitempty"` // by the first command
	Says     []string  `json:"says,omitempty"`    // of that the sentences, beside the drawing
}

// Command is a command, and what it shows, as far as the lesson knows that.
type Command struct {
	course.Command
	Drawn *explore.Recording `json:"drawn,omitempty"`
}

// entryOf returns the entry of a lesson, with the first paragraph of its idea.
func entryOf(l course.Lesson) Entry {
	idea, _, _ := strings.Cut(l.Idea, "\n\n")
	entry := Entry{Number: l.Number, Title: l.Title, Idea: toHTML(idea), Sketch: sketchOf(l.Link)}
	for _, section := range l.Sections {
		for _, part := range section.Parts {
			for _, c := range part.Commands {
				if c.Kind == course.Lab && !slices.Contains(entry.Labs, c.Name) {
					entry.Labs = append(entry.Labs, c.Name)
				}
			}
		}
	}
	return entry
}

// pageOf replays the schedules that the lesson shows, so that they are there before anything is explored.
func pageOf(l course.Lesson, in language.Language) Page {
	page := Page{Entry: Entry{Number: l.Number, Title: l.Title}, Answer: l.Answer, Seat: l.Link}
	var sections []Section
	for i, id := range []string{"predict", "run", "see", "explain", "seat", "try", "broken"} {
		section := Section{ID: id, Title: l.Sections[i].Heading, Parts: []Part{}}
		if i == course.Run {
			section.Parts = append(section.Parts, partsOf(l.Opening, true)...) // what the terminal needs stands where one is needed first
		}
		for _, part := range l.Sections[i].Parts {
			section.Parts = append(section.Parts, partOf(part, in))
		}
		sections = append(sections, section)
	}
	for _, part := range partsOf(l.Opening, false) {
		page.Idea += part.HTML
	}
	page.Predict, page.Run, page.See = sections[course.Predict], sections[course.Run], sections[course.See]
	page.After = sections[course.Explain:]
	for _, choice := range l.Choices {
		page.Choices = append(page.Choices, inline(choice))
	}
	return page
}

// partsOf gives the prose of a text that is about the terminal, or that is not.
func partsOf(all []course.Part, terminal bool) (parts []Part) {
	for _, part := range all {
		if part.Terminal == terminal {
			parts = append(parts, Part{HTML: toHTML(part.Text), Terminal: terminal})
		}
	}
	return parts
}

func partOf(p course.Part, in language.Language) Part {
	part := Part{HTML: toHTML(p.Text), Terminal: p.Terminal, Printed: p.Printed}
	for _, c := range p.Commands {
		command := Command{Command: c}
		if c.Schedule != "" && c.Kind != course.Contrasts {
			command.Drawn = drawnOf(c, in)
		}
		part.Commands = append(part.Commands, command)
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(p.Printed), "\n\n") {
		switch {
		case paragraph == "" || strings.Contains(paragraph, "│") || strings.Contains(paragraph, "--replay"):
		case strings.Contains(p.Printed, "│"): // the second line says how to read that drawing
			says, _, _ := strings.Cut(paragraph, "\n")
			part.Says = append(part.Says, says)
		default:
			part.Says = append(part.Says, strings.Split(paragraph, "\n")...)
		}
	}
	for i, says := range part.Says {
		part.Says[i] = part.named(says)
	}
	return part
}

// named calls the anomaly that the commands show as the drawing does, which is beside it.
func (p Part) named(says string) string {
	for _, c := range p.Commands {
		if c.Drawn == nil {
			continue
		}
		for _, shown := range c.Drawn.Hits {
			says = strings.Replace(says, " "+string(shown.Anomaly), " "+shown.Title, 1)
		}
	}
	return says
}

// drawnOf replays a schedule; nil if it does not fit, as somebody has changed the code. What it breaks is what the command looks for, if it
// looks for something.
func drawnOf(c course.Command, in language.Language) *explore.Recording {
	lock, unknown := evolution.Find(c.Lock)
	scenario, malformed := explore.ParseScenario(c.Scenario)
	if unknown != nil || malformed != nil {
		return nil // a lesson has no such command
	}
	scenario.Language = in
	replayed, stale := explore.Replay(lock, scenario, c.Schedule)
	if stale != nil {
		return nil
	}
	replayed.Hits = slices.DeleteFunc(replayed.Hits, func(shown explore.AnomalyHit) bool {
		return c.Anomaly != "" && c.Anomaly != string(shown.Anomaly)
	})
	return &replayed
}
