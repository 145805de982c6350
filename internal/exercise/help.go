package exercise

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"lockstep/internal/verdict"
)

// listed is an exercise in the list.
type listed struct {
	Exercise string          `json:"exercise"`
	Title    string          `json:"title"`
	State    verdict.Verdict `json:"state"`
	Hints    int             `json:"hints"` // given
	Claim    string          `json:"claim"`
	Dir      string          `json:"dir"`
}

// List prints all exercises, and what was done.
func (l Learner) List() error {
	p, err := l.Store.Load()
	if err != nil {
		return err
	}
	var all []listed
	done := 0
	for _, e := range All() {
		state := verdict.NotYet
		if p.Done[e.ID()] {
			state = verdict.Done
			done++
		}
		all = append(all, listed{e.ID(), e.Title.In(l.In), state, p.Hints[e.ID()], e.Claim.In(l.In), e.Dir()})
	}
	if l.JSON != nil {
		return l.JSON(all)
	}
	table := tabwriter.NewWriter(l.People, 0, 0, 2, ' ', 0)
	for _, one := range all {
		mark := " "
		if one.State == verdict.Done {
			mark = "✓"
		}
		fmt.Fprintf(table, "%s %s\t%s\n", mark, one.Exercise, one.Title)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	l.sayProgress(p, done, len(all))
	return nil
}

// Hint gives the next hint. When all were given, it gives them all again; so it does where it cannot be written down that one was.
func (l Learner) Hint(e Exercise) error {
	after, forgotten := l.remember(func(p *Progress) {
		p.Hints[e.ID()] = min(p.Hints[e.ID()]+1, HintsEach)
	}, hintText())
	given := after.Hints[e.ID()]
	if forgotten != nil {
		given = HintsEach
	}
	var texts []string
	for _, hint := range e.Hints[:given] {
		texts = append(texts, hint.In(l.In))
	}
	if l.JSON != nil {
		return cmp.Or(l.JSON(map[string]any{"exercise": e.ID(), "hints": texts, "of": HintsEach}), forgotten)
	}
	l.sayHints(e, texts)
	return forgotten
}

// timesToAsk is how often somebody asks for a solution who is given it before the exercise is done.
const timesToAsk = 2

// Solution prints the solution, if it is time for it, or if it cannot be written down that the learner has asked.
func (l Learner) Solution(e Exercise) error {
	after, forgotten := l.remember(func(p *Progress) {
		p.Asked[e.ID()] = min(p.Asked[e.ID()]+1, timesToAsk)
	}, solutionText())
	shown := after.Done[e.ID()] || after.Asked[e.ID()] == timesToAsk || forgotten != nil
	text, file := []byte(nil), e.Dir()+"/solution/lock.go"
	if shown {
		var err error
		if text, err = os.ReadFile(filepath.Join(l.Checker.Root, filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	switch {
	case l.JSON != nil:
		return cmp.Or(l.JSON(map[string]any{"exercise": e.ID(), "shown": shown, "file": file, "solution": string(text)}), forgotten)
	case shown:
		fmt.Fprintf(l.People, "// %s\n\n%s", file, text)
	default:
		l.sayTooEarly(e)
	}
	return forgotten
}
