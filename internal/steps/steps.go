// Package steps describes the evolution of the lock step by step: what changes in the code from one lock to the next, and what the change
// cures, costs and leaves broken. Begin with [All] and [Find].
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

// Step is the change from one lock to another lock, which differs by one idea.
type Step struct {
	From          string        `json:"from"`         // name of the lock before the step
	To            string        `json:"to"`           // name of the lock after the step
	Title         string        `json:"title"`        // title of To
	Adds          string        `json:"adds"`         // what To adds
	Costs         string        `json:"costs"`        // what To costs
	StillBroken   string        `json:"still_broken"` // what To leaves broken
	Flaw          string        `json:"flaw"`         // reason why From does not keep a promise; "": To does not cure a flaw
	Cure          string        `json:"cure"`         // reason why To keeps the promise
	Lab           string        `json:"lab"`          // lab that runs both locks on the service; "": none
	Exercise      string        `json:"exercise"`     // ID of the exercise in which learners write the cure; "": none
	Demonstration Demonstration `json:"shown"`        // schedule that shows the difference

	Measured []string `json:"measured"` // sentences about how the numbers change, beginning with KeyPoint; empty: not measured
	Where    string   `json:"where"`    // where Measured was measured

	NewParts     []string `json:"-"` // parts of internal/lock that To is the first to use; see sharedPart
	DroppedParts []string `json:"-"` // parts of internal/lock that To no longer uses

	KeyPoint evolution.Point `json:"-"` // measurement that speaks most for or against the step; zero: the share of a single buyer
}

// Demonstration is a schedule for the scheduler's seat that shows what the step changes.
type Demonstration struct {
	Lock     string          `json:"lock"`    // lock under which the schedule runs
	Scenario string          `json:"in"`      // flags of the scenario; "": no flags
	Schedule string          `json:"do"`      // transitions, separated by spaces
	Anomaly  anomaly.Anomaly `json:"anomaly"` // anomaly to which the schedule leads; "": none
	Against  string          `json:"beside"`  // lock to compare with; "": the other lock cannot run the same schedule
}

// Detail is a step with its code.
type Detail struct {
	Step

	Removals []string `json:"gone"`  // sentences about what To no longer uses
	Files    []File   `json:"files"` // files that differ, in reading order
}

// Added returns the number of added lines without comments and blank lines.
func (d Detail) Added() (lines int) {
	for _, f := range d.Files {
		lines += f.Added
	}
	return lines
}

// Removed returns the number of removed lines without comments and blank lines.
func (d Detail) Removed() (lines int) {
	for _, f := range d.Files {
		lines += f.Removed
	}
	return lines
}

// Pair returns the name of the step, such as v3-v4. The name of a lock may contain a hyphen as well.
func (s Step) Pair() string { return s.From + "-" + s.To }

// ErrUnknown is returned for two locks that are not neighbors in the evolution.
var ErrUnknown = lock.WithCode("unknown_step", "there is no such step")

// All returns the steps in the order of the evolution, without their code.
func All(in language.Language) []Step {
	all, measured := table(), evolution.Measured()
	for i := range all {
		all[i].describe(measured, in)
	}
	return all
}

// Find returns the step with this Pair, or ErrUnknown.
func Find(pair string, in language.Language) (Detail, error) {
	return find(pair, in, func(s Step) bool { return s.Pair() == pair })
}

// Between returns the step from one lock to another. If to is empty, it returns the first step from the lock. It returns ErrUnknown if
// there is none.
func Between(from, to string, in language.Language) (Detail, error) {
	name := strings.TrimSuffix(from+"-"+to, "-")
	return find(name, in, func(s Step) bool { return s.From == from && (to == "" || s.To == to) })
}

// find returns the first step that matches. If there is none, it returns ErrUnknown with name.
func find(name string, in language.Language, matches func(Step) bool) (Detail, error) {
	all := All(in)
	i := slices.IndexFunc(all, matches)
	if i < 0 {
		var names []string
		for _, s := range all {
			names = append(names, s.Pair())
		}
		return Detail{}, language.Translate(fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(names, ", ")),
			"没有“%s”这一版；可选：%s", name, strings.Join(names, "、"))
	}
	files, removals, err := all[i].files(in)
	return Detail{Step: all[i], Removals: removals, Files: files}, err
}

// describe completes a row of the table with the texts about its locks, the measurements, and the reasons in its lab.
func (s *Step) describe(measured evolution.Figures, in language.Language) {
	to, err := evolution.Find(s.To)
	if err != nil {
		panic(err) // A test checks the names in the table.
	}
	s.Title, s.Adds, s.Costs, s.StillBroken = to.Title.In(in), to.Adds.In(in), to.Costs.In(in), to.StillBroken.In(in)
	s.addMeasurements(measured, in)
	if s.Demonstration.Lock == "" {
		s.Demonstration.Lock, s.Demonstration.Against = s.From, s.To
	}
	if s.Lab == "" {
		return
	}
	demonstration, err := lab.Find(s.Lab)
	if err != nil {
		panic(err) // A test checks the names in the table.
	}
	s.Flaw, s.Cure = demonstration.Expects(s.From).Why.In(in), demonstration.Expects(s.To).Why.In(in)
}

// addMeasurements sets Measured and Where.
func (s *Step) addMeasurements(f evolution.Figures, in language.Language) {
	s.Measured = []string{}
	s.Where = measurementText(f, in)
	argues := cmp.Or(s.KeyPoint, evolution.Point{Metric: evolution.Share, Condition: evolution.Alone()})
	others := slices.DeleteFunc(evolution.Points(), func(point evolution.Point) bool { return point == argues })
	for _, point := range append([]evolution.Point{argues}, others...) {
		if change := f.Change(s.From, s.To, point, in); change != "" {
			s.Measured = append(s.Measured, change)
		}
	}
}
