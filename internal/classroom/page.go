package classroom

import (
	"slices"
	"strings"

	"lockstep/internal/course"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// Entry is a lesson in the list of lessons.
type Entry struct {
	Number int      `json:"number"`
	Title  string   `json:"title"`
	Idea   string   `json:"idea"`             // HTML of the idea: in a list only the first paragraph, in a Page all of it
	Labs   []string `json:"labs,omitempty"`   // names of the labs that the lesson runs; nil in a Page
	Sketch string   `json:"sketch,omitempty"` // SVG of its schedule; empty in a Page
}

// Page is a lesson with its texts as HTML. The page in the browser asks the question of Predict first, and shows the sections of After once
// the reader has answered it.
type Page struct {
	Entry
	Predict Section   `json:"predict"` // the question
	Choices []string  `json:"choices"` // HTML of each choice
	Answer  int       `json:"answer"`  // 1-based right choice
	Run     Section   `json:"run"`     // the command, with its output
	See     Section   `json:"see"`     // heading for that output
	After   []Section `json:"after"`   // Explain, Seat, Try and Broken
	Seat    string    `json:"seat"`    // fragment of the page's URL that opens the schedule in the scheduler's seat: #/schedule/…
}

// Section is a heading of a lesson and what follows it.
type Section struct {
	ID    string `json:"id"` // id of the heading in the HTML
	Title string `json:"title"`
	Parts []Part `json:"parts"`
}

// Part is a piece of a section: prose, or commands with the prose that introduces them.
type Part struct {
	HTML     string    `json:"html"`
	Terminal bool      `json:"terminal,omitempty"` // the part is only useful in a terminal
	Commands []Command `json:"commands,omitempty"`
	Printed  string    `json:"printed,omitempty"` // output of the first command, as plain text; empty: not shown
	Says     []string  `json:"says,omitempty"`    // sentences of Printed that the page shows beside the diagram
}

// Command is a command with the replay of its schedule.
type Command struct {
	course.Command
	Diagram *explore.Recording `json:"drawn,omitempty"` // replay of the schedule; nil: the lesson shows none
}

// newEntry returns the entry of a lesson, with the first paragraph of its idea.
func newEntry(l course.Lesson) Entry {
	idea, _, _ := strings.Cut(l.Idea, "\n\n")
	entry := Entry{Number: l.Number, Title: l.Title, Idea: toHTML(idea), Sketch: sketch(l.Link)}
	for _, section := range l.Sections {
		for _, part := range section.Parts {
			for _, c := range part.Commands {
				if c.Kind == course.KindLab && !slices.Contains(entry.Labs, c.Name) {
					entry.Labs = append(entry.Labs, c.Name)
				}
			}
		}
	}
	return entry
}

// newPage renders a lesson. It replays the schedules that the lesson shows, so that the reader sees them without running an exploration.
func newPage(l course.Lesson, in language.Language) Page {
	page := Page{Entry: Entry{Number: l.Number, Title: l.Title}, Answer: l.Answer, Seat: l.Link}
	var sections []Section
	for i, id := range []string{"predict", "run", "see", "explain", "seat", "try", "broken"} {
		section := Section{ID: id, Title: l.Sections[i].Heading, Parts: []Part{}}
		if i == course.Run {
			section.Parts = append(section.Parts, openingParts(l.Opening, true)...) // A terminal is first needed here.
		}
		for _, part := range l.Sections[i].Parts {
			section.Parts = append(section.Parts, newPart(part, in))
		}
		sections = append(sections, section)
	}
	for _, part := range openingParts(l.Opening, false) {
		page.Idea += part.HTML
	}
	page.Predict, page.Run, page.See = sections[course.Predict], sections[course.Run], sections[course.See]
	page.After = sections[course.Explain:]
	for _, choice := range l.Choices {
		page.Choices = append(page.Choices, inlineHTML(choice))
	}
	return page
}

// openingParts renders the parts of an opening whose Terminal is terminal.
func openingParts(all []course.Part, terminal bool) (parts []Part) {
	for _, part := range all {
		if part.Terminal == terminal {
			parts = append(parts, Part{HTML: toHTML(part.Text), Terminal: terminal})
		}
	}
	return parts
}

// newPart renders a part of a lesson, and replays the schedules of its commands.
func newPart(p course.Part, in language.Language) Part {
	part := Part{HTML: toHTML(p.Text), Terminal: p.Terminal, Printed: p.Printed}
	for _, c := range p.Commands {
		command := Command{Command: c}
		if c.Schedule != "" && c.Kind != course.KindContrast {
			command.Diagram = replay(c, in)
		}
		part.Commands = append(part.Commands, command)
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(p.Printed), "\n\n") {
		switch {
		case paragraph == "" || strings.Contains(paragraph, "│") || strings.Contains(paragraph, "--replay"):
		case strings.Contains(p.Printed, "│"): // The line after the sentence explains how to read the diagram.
			says, _, _ := strings.Cut(paragraph, "\n")
			part.Says = append(part.Says, says)
		default:
			part.Says = append(part.Says, strings.Split(paragraph, "\n")...)
		}
	}
	for i, says := range part.Says {
		part.Says[i] = part.withTitles(says)
	}
	return part
}

// withTitles replaces the ids of anomalies in a sentence by the titles in the diagrams.
func (p Part) withTitles(says string) string {
	for _, c := range p.Commands {
		if c.Diagram == nil {
			continue
		}
		for _, hit := range c.Diagram.Hits {
			says = strings.Replace(says, " "+string(hit.Anomaly), " "+hit.Title, 1)
		}
	}
	return says
}

// replay replays the schedule of a command. If the command looks for an anomaly, the recording only has hits of that anomaly. replay
// returns nil if the schedule no longer fits, because the code of the lock has changed.
func replay(c course.Command, in language.Language) *explore.Recording {
	lock, lockErr := evolution.Find(c.Lock)
	scenario, scenarioErr := explore.ParseScenario(c.Scenario)
	if lockErr != nil || scenarioErr != nil {
		return nil // Cannot happen, because reading the lesson checks both.
	}
	scenario.Language = in
	recording, err := explore.Replay(lock, scenario, c.Schedule)
	if err != nil {
		return nil
	}
	recording.Hits = slices.DeleteFunc(recording.Hits, func(hit explore.AnomalyHit) bool {
		return c.Anomaly != "" && c.Anomaly != string(hit.Anomaly)
	})
	return &recording
}
