package exercise

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"lockstep/internal/verdict"
)

// listEntry is an exercise in the output of Learner.List.
type listEntry struct {
	Exercise string          `json:"exercise"`
	Title    string          `json:"title"`
	State    verdict.Verdict `json:"state"`
	Hints    int             `json:"hints"` // number of hints given
	Claim    string          `json:"claim"`
	Dir      string          `json:"dir"`
}

// List prints all exercises, and which ones are done.
func (l Learner) List() error {
	p, err := l.Store.Load()
	if err != nil {
		return err
	}
	var all []listEntry
	done := 0
	for _, e := range All() {
		state := verdict.NotYet
		if p.Done[e.ID()] {
			state = verdict.Done
			done++
		}
		all = append(all, listEntry{e.ID(), e.Title.In(l.In), state, p.Hints[e.ID()], e.Claim.In(l.In), e.Dir()})
	}
	if l.JSON != nil {
		return l.JSON(all)
	}
	table := tabwriter.NewWriter(l.People, 0, 0, 2, ' ', 0)
	for _, entry := range all {
		mark := " "
		if entry.State == verdict.Done {
			mark = "✓"
		}
		fmt.Fprintf(table, "%s %s\t%s\n", mark, entry.Exercise, entry.Title)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	l.sayProgress(p, done, len(all))
	return nil
}

// Hint prints the hints given so far and the next one. If the progress cannot be saved, it prints all hints.
func (l Learner) Hint(e Exercise) error {
	after, saveErr := l.updateProgress(func(p *Progress) {
		p.Hints[e.ID()] = min(p.Hints[e.ID()]+1, HintsEach)
	}, hintText())
	given := after.Hints[e.ID()]
	if saveErr != nil {
		given = HintsEach
	}
	var texts []string
	for _, hint := range e.Hints[:given] {
		texts = append(texts, hint.In(l.In))
	}
	if l.JSON != nil {
		return cmp.Or(l.JSON(map[string]any{"exercise": e.ID(), "hints": texts, "of": HintsEach}), saveErr)
	}
	l.sayHints(e, texts)
	return saveErr
}

// requestsForSolution is the number of requests that show the solution of an exercise that is not done: a second request is deliberate.
const requestsForSolution = 2

// Solution prints the solution if the exercise is done, the learner asks for the second time, or the progress cannot be saved.
func (l Learner) Solution(e Exercise) error {
	after, saveErr := l.updateProgress(func(p *Progress) {
		p.Asked[e.ID()] = min(p.Asked[e.ID()]+1, requestsForSolution)
	}, solutionText())
	shown := after.Done[e.ID()] || after.Asked[e.ID()] == requestsForSolution || saveErr != nil
	text, file := []byte(nil), e.Dir()+"/solution/lock.go"
	if shown {
		var err error
		if text, err = os.ReadFile(filepath.Join(l.Checker.Root, filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	switch {
	case l.JSON != nil:
		return cmp.Or(l.JSON(map[string]any{"exercise": e.ID(), "shown": shown, "file": file, "solution": string(text)}), saveErr)
	case shown:
		fmt.Fprintf(l.People, "// %s\n\n%s", file, text)
	default:
		l.sayTooEarly(e)
	}
	return saveErr
}
