// Package steps shows the evolution as differences: what changes in the code from a lock to the next one, beside what that cures, costs
// and leaves broken.
package steps

import (
	"fmt"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/stage/lab"
)

// Step is the way from a lock to one that differs from it by one idea.
type Step struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Title       string `json:"title"` // of To
	Adds        string `json:"adds"`
	Costs       string `json:"costs"`
	StillBroken string `json:"still_broken"`
	Flaw        string `json:"flaw"`     // what From promises in vain; "" if To cures no flaw of it
	Cure        string `json:"cure"`     // how To keeps the promise
	Lab         string `json:"lab"`      // shows both on the running service; "" if none does
	Exercise    string `json:"exercise"` // lets the reader write the cure, as lockstep check names it; "" if none does
	Shown       Shown  `json:"shown"`
}

// Shown is a schedule that shows the step, for the scheduler's seat.
type Shown struct {
	Lock     string `json:"lock"`
	Scenario string `json:"in"` // as flags
	Schedule string `json:"do"`
	Anomaly  string `json:"anomaly"` // that it shows; "" if none
	Beside   string `json:"beside"`  // the lock to compare with; "" if the same schedule cannot be run under both
}

// Detail is a step with its code.
type Detail struct {
	Step

	Files []File `json:"files"`
}

// Pair names the step: v3-v4. A lock's name may have a hyphen, too.
func (s Step) Pair() string { return s.From + "-" + s.To }

// ErrUnknown means that two locks are no step.
var ErrUnknown = lock.WithCode("unknown_step", "there is no such step")

// All lists the steps, in the order of the story.
func All(in language.Language) (all []Step) {
	for _, w := range table() {
		all = append(all, w.step(in))
	}
	return all
}

// Find returns a step by its pair of names, or ErrUnknown.
func Find(pair string, in language.Language) (Detail, error) {
	var names []string
	for _, w := range table() {
		s := w.step(in)
		if s.Pair() != pair {
			names = append(names, s.Pair())
			continue
		}
		files, err := w.files()
		return Detail{Step: s, Files: files}, err
	}
	return Detail{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, pair, strings.Join(names, ", "))
}

// step says all of a way but its code.
func (w way) step(in language.Language) Step {
	to, err := evolution.Find(w.to)
	if err != nil {
		panic(err) // the table's own
	}
	s := Step{
		From: w.from, To: w.to, Title: to.Title.In(in), Adds: to.Adds.In(in), Costs: to.Costs.In(in), StillBroken: to.StillBroken.In(in),
		Lab: w.lab, Exercise: w.exercise, Shown: w.shown,
	}
	if s.Shown.Lock == "" {
		s.Shown.Lock, s.Shown.Beside = w.from, w.to
	}
	if w.lab == "" {
		return s
	}
	shows, err := lab.Find(w.lab)
	if err != nil {
		panic(err) // the table's own
	}
	s.Flaw, s.Cure = shows.Expects(w.from).Why.In(in), shows.Expects(w.to).Why.In(in)
	return s
}
