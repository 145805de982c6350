// Package steps shows the evolution as differences: what changes in the code from a lock to the next one, beside what that cures, costs
// and leaves broken.
package steps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/lock"
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

	Measured []string `json:"measured"` // what the numbers become, a sentence each, the one that argues for the step first; none if unknown
	Where    string   `json:"where"`    // they were measured

	Brings []string `json:"-"` // parts of internal/lock that To is the first to use; see shared
	Leaves []string `json:"-"` // those that To no longer uses

	Argues evolution.Point `json:"-"` // the number that argues for the step
}

// Shown is a schedule that shows the step, for the scheduler's seat.
type Shown struct {
	Lock     string          `json:"lock"`
	Scenario string          `json:"in"` // as flags
	Schedule string          `json:"do"`
	Anomaly  anomaly.Anomaly `json:"anomaly"` // that it shows; "" if none
	Beside   string          `json:"beside"`  // the lock to compare with; "" if the same schedule cannot be run under both
}

// Detail is a step with its code.
type Detail struct {
	Step

	Gone  []string `json:"gone"` // what To does without, a sentence each
	Files []File   `json:"files"`
}

// Added returns how many lines come, comments and blank ones left out.
func (d Detail) Added() (lines int) {
	for _, f := range d.Files {
		lines += f.Added
	}
	return lines
}

// Removed returns how many lines go, comments and blank ones left out.
func (d Detail) Removed() (lines int) {
	for _, f := range d.Files {
		lines += f.Removed
	}
	return lines
}

// Pair names the step: v3-v4. A lock's name may have a hyphen, too.
func (s Step) Pair() string { return s.From + "-" + s.To }

// ErrUnknown means that two locks are no step.
var ErrUnknown = lock.WithCode("unknown_step", "there is no such step")

// All lists the steps, in the order of the story.
func All(in language.Language) []Step {
	all, measured := table(), evolution.Measured()
	for i := range all {
		all[i].tell(measured, in)
	}
	return all
}

// Find returns a step by its pair of names, or ErrUnknown.
func Find(pair string, in language.Language) (Detail, error) {
	return find(pair, in, func(s Step) bool { return s.Pair() == pair })
}

// Between returns the step from a lock to another, or, without the other, to the first one that follows; or ErrUnknown.
func Between(from, to string, in language.Language) (Detail, error) {
	name := strings.TrimSuffix(from+"-"+to, "-")
	return find(name, in, func(s Step) bool { return s.From == from && (to == "" || s.To == to) })
}

// find returns the first step that is meant by a name.
func find(name string, in language.Language, meant func(Step) bool) (Detail, error) {
	all := All(in)
	i := slices.IndexFunc(all, meant)
	if i < 0 {
		var names []string
		for _, s := range all {
			names = append(names, s.Pair())
		}
		return Detail{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
	}
	files, gone, err := all[i].files(in)
	return Detail{Step: all[i], Gone: gone, Files: files}, err
}

// tell adds to a row of the table what is known from elsewhere.
func (s *Step) tell(measured evolution.Figures, in language.Language) {
	to, err := evolution.Find(s.To)
	if err != nil {
		panic(err) // the table's own
	}
	s.Title, s.Adds, s.Costs, s.StillBroken = to.Title.In(in), to.Adds.In(in), to.Costs.In(in), to.StillBroken.In(in)
	s.number(measured, in)
	if s.Shown.Lock == "" {
		s.Shown.Lock, s.Shown.Beside = s.From, s.To
	}
	if s.Lab == "" {
		return
	}
	shows, err := lab.Find(s.Lab)
	if err != nil {
		panic(err) // the table's own
	}
	s.Flaw, s.Cure = shows.Expects(s.From).Why.In(in), shows.Expects(s.To).Why.In(in)
}

// number adds what the numbers of To become.
func (s *Step) number(f evolution.Figures, in language.Language) {
	s.Measured = []string{}
	s.Where = measuredWhere(f, in)
	argues := cmp.Or(s.Argues, evolution.Point{Number: evolution.Share, Condition: evolution.Alone()})
	others := slices.DeleteFunc(evolution.Points(), func(at evolution.Point) bool { return at == argues })
	for _, at := range append([]evolution.Point{argues}, others...) {
		if change := f.Change(s.From, s.To, at, in); change != "" {
			s.Measured = append(s.Measured, change)
		}
	}
}
