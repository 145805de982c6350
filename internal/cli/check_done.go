package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"lockstep/internal/learn/progress"
	"lockstep/internal/learn/workshop"
)

// forgottenError says that what was found was printed, and could not be written down.
type forgottenError struct{ error }

// check checks an exercise once, prints what was found, and remembers whether it is done.
func (d desk) check(ctx context.Context, e workshop.Exercise) (workshop.Outcome, error) {
	if _, err := d.store.Load(); err != nil { // before the learner waits for nothing
		return workshop.Outcome{}, err
	}
	outcome, err := d.checker.Check(ctx, e, e.Dir(), d.in)
	if err != nil {
		return outcome, err
	}
	var after progress.Progress
	err = d.store.Update(func(p *progress.Progress) {
		delete(p.Done, e.ID())
		if outcome.State == workshop.Done {
			p.Done[e.ID()] = true
		}
		after = *p
	})
	if err != nil {
		err = forgottenError{fmt.Errorf(d.words.forgotten, err)}
	}
	if d.asJSON {
		return outcome, cmp.Or(writeJSON(d.out, outcome), err)
	}
	d.show(e, outcome, after)
	return outcome, err
}

// show prints what a check found.
func (d desk) show(e workshop.Exercise, o workshop.Outcome, p progress.Progress) {
	fmt.Fprintf(d.people, d.words.head, e.ID(), e.Title.In(d.in))
	switch {
	case o.State == workshop.Done:
		fmt.Fprintf(d.people, d.words.done, e.Claim.In(d.in), o.Schedules, o.Seconds)
		if next, left := firstNotDone(p); left {
			fmt.Fprintf(d.people, d.words.next, next.ID(), next.Title.In(d.in), next.Dir())
		} else {
			fmt.Fprint(d.people, d.words.allDone)
		}
	case o.State == workshop.NotYet && o.Anomaly == "":
		fmt.Fprintf(d.people, d.words.untested, e.Claim.In(d.in), o.Says)
	case o.State == workshop.NotYet:
		fmt.Fprintf(d.people, d.words.broken, e.Claim.In(d.in), o.Length, o.Anomaly, d.words.anomaly(o.Anomaly), d.setting(o))
		fmt.Fprintf(d.people, "%s\n", o.Diagram)
		fmt.Fprintf(d.people, d.words.schedule, o.Schedule)
		if !d.watch { // which says it at the end
			fmt.Fprintf(d.people, d.words.help, e.Dir(), d.typed, e.ID())
		}
	default:
		fmt.Fprintf(d.people, d.words.failed, d.words.trouble(o.Reason), o.Says)
	}
}

// setting says in what an anomaly showed.
func (d desk) setting(o workshop.Outcome) string {
	if o.Scenario == "" {
		return d.words.calm
	}
	return o.Scenario
}

// listed is an exercise in the list.
type listed struct {
	Exercise string         `json:"exercise"`
	Title    string         `json:"title"`
	State    workshop.State `json:"state"`
	Hints    int            `json:"hints"` // given
	Claim    string         `json:"claim"`
	Dir      string         `json:"dir"`
}

// list prints all exercises, and what was done.
func (d desk) list() error {
	p, err := d.store.Load()
	if err != nil {
		return err
	}
	var all []listed
	done := 0
	for _, e := range workshop.All() {
		l := listed{e.ID(), e.Title.In(d.in), workshop.NotYet, p.Hints[e.ID()], e.Claim.In(d.in), e.Dir()}
		if p.Done[e.ID()] {
			l.State = workshop.Done
			done++
		}
		all = append(all, l)
	}
	if d.asJSON {
		return writeJSON(d.out, all)
	}
	table := tabwriter.NewWriter(d.people, 0, 0, 2, ' ', 0)
	for _, l := range all {
		mark := " "
		if l.State == workshop.Done {
			mark = "✓"
		}
		fmt.Fprintf(table, "%s %s\t%s\n", mark, l.Exercise, l.Title)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(d.people, d.words.progress, done, len(all))
	if next, left := firstNotDone(p); left {
		fmt.Fprintf(d.people, d.words.next, next.ID(), next.Title.In(d.in), next.Dir())
		fmt.Fprintf(d.people, d.words.how, d.typed, next.ID())
	} else {
		fmt.Fprint(d.people, d.words.allDone)
	}
	return nil
}

// giveHint gives the next hint. When all were given, it gives them all again.
func (d desk) giveHint(e workshop.Exercise) error {
	given := 0
	err := d.store.Update(func(p *progress.Progress) {
		p.Hints[e.ID()] = min(p.Hints[e.ID()]+1, workshop.HintsEach)
		given = p.Hints[e.ID()]
	})
	if err != nil {
		return err
	}
	var texts []string
	for _, hint := range e.Hints[:given] {
		texts = append(texts, hint.In(d.in))
	}
	if d.asJSON {
		return writeJSON(d.out, map[string]any{"exercise": e.ID(), "hints": texts, "of": workshop.HintsEach})
	}
	fmt.Fprintf(d.people, d.words.head, e.ID(), e.Title.In(d.in))
	for i, text := range texts {
		fmt.Fprintf(d.people, d.words.hint, i+1, workshop.HintsEach, text)
	}
	if given == workshop.HintsEach {
		fmt.Fprintf(d.people, d.words.noMoreHints, d.typed, e.ID())
	}
	return nil
}

// timesToAsk is how often somebody asks for a solution who is given it before the exercise is done.
const timesToAsk = 2

// showSolution prints the solution, if it is time for it.
func (d desk) showSolution(e workshop.Exercise) error {
	shown := false
	err := d.store.Update(func(p *progress.Progress) {
		p.Asked[e.ID()] = min(p.Asked[e.ID()]+1, timesToAsk)
		shown = p.Done[e.ID()] || p.Asked[e.ID()] == timesToAsk
	})
	if err != nil {
		return err
	}
	text := []byte(nil)
	file := e.Dir() + "/solution/lock.go"
	if shown {
		if text, err = os.ReadFile(filepath.Join(d.checker.Root, filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	switch {
	case d.asJSON:
		return writeJSON(d.out, map[string]any{"exercise": e.ID(), "shown": shown, "file": file, "solution": string(text)})
	case shown:
		fmt.Fprintf(d.people, d.words.solution, file)
		fmt.Fprintf(d.people, "%s", text)
	default:
		fmt.Fprintf(d.people, d.words.notShown, d.typed, e.ID(), d.typed, e.ID())
	}
	return nil
}
