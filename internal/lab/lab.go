// Package lab makes the flaws of the locks happen, on demand, and says of every strategy which it has.
//
// A lab is one anomaly, a row in a table (labs_*.go): its claim, its scenario, what it expects of each lock and why. Most labs run on the
// running service: real replicas, real requests, real faults, a witness. Each such run has a Redis and replicas of its own (stage.go), and
// leaves nothing behind. What cannot be staged so the explorer looks for (explorer.go). The matrix (matrix.go) is all labs and all
// strategies. What is observed comes from a run, never from the table.
package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

// Lab is one anomaly.
type Lab struct {
	Name  string
	Title language.Text // the trouble, as people call it
	Claim language.Text // what a lock that holds promises
	Shows string        // the step that has the flaw; empty: none has, and the lab shows that
	Cured string        // the step that cures it
	Cure  language.Text // how

	Explore string // the same in the explorer: the arguments of lockstep explore, after the lock; empty: the explorer does not show it
	Needs   []Need

	Explores map[string]string // Explore by lock, where it is not the same for all

	Shop     Settings
	Scenario func(*Stage)
	Fault    language.Text                // what must have happened for the run to say anything
	Hit      Condition                    // whether it did
	Proof    Condition                    // what shows that a lock holds; without it that is unknown; nil: that it was hit
	Signs    []witness.FindingKind        // any of these is the anomaly
	Blames   func(f witness.Finding) bool // which of them counts; nil: any
	Draws    int                          // how many sales are drawn, the first ones; 0: all

	Anomaly  explore.Anomaly // what the explorer looks for; empty: it has a scenario on the running service
	Faults   explore.Faults  // with which; none: what is expected says with which
	Expected []Expectation
}

// All gives all labs, in the order of the story: those on the running service, and then the explorer's.
func All() []Lab { return append(OnService(), segmented(explorations())...) }

// OnService gives the labs that run on the running service.
func OnService() []Lab { return segmented(slices.Concat(steps(), holders(), outages(), replicas())) }

// segmented lets all labs that are of a lock, and not of the stock, leave out the strategy that has several.
func segmented(all []Lab) []Lab {
	const name = "segmented"
	for i := range all {
		l := &all[i]
		if !slices.ContainsFunc(l.Expected, func(e Expectation) bool { return e.isOf(name) }) {
			l.Expected = append(l.Expected, without(LockNames{name}, "each segment has a v11 lock: see v11", "每段各有一把 v11 锁：见 v11"))
		}
	}
	return all
}

// Find gives the lab of that name on the running service.
func Find(name string) (Lab, error) {
	var names []string
	for _, l := range OnService() {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return Lab{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
}

// Expects gives what the lab expects of a lock: of delex, the same as of v4.
func (l Lab) Expects(lock string) Expectation {
	for _, e := range l.Expected {
		if e.isOf(lock) || lock == "delex" && e.isOf("v4") {
			return e
		}
	}
	return without(LockNames{lock}, "this lab says nothing about it", "这个实验没有涉及它")
}

// Check fails if the lab is not for a lock, or there is no such lock.
func (l Lab) Check(lock string, in language.Language) error {
	if _, err := evolution.Find(lock); err != nil {
		return err
	}
	if e := l.Expects(lock); e.Observed == verdict.NA {
		return fmt.Errorf("%w: %s, %s: %s", ErrNotFor, l.Name, lock, e.Why.In(in))
	}
	return nil
}

// Locks gives those that a lab is run with if nobody says which: the step that shows the flaw, and the one that cures it.
func (l Lab) Locks() []string {
	if l.Shows == "" {
		return []string{l.Cured}
	}
	return []string{l.Shows, l.Cured}
}

// isEarlier reports whether the cure comes before the flaw in the story: it is another way, not a next step.
func (l Lab) isEarlier() bool {
	names := evolution.Names()
	return slices.Index(names, l.Cured) < slices.Index(names, l.Shows)
}

// InExplorer gives the command that shows the same in the explorer, with one of Locks or of Explores; "" if there is none.
func (l Lab) InExplorer(lock string) string {
	arguments := l.Explores[lock]
	if slices.Contains(l.Locks(), lock) {
		arguments = cmp.Or(arguments, l.Explore)
	}
	if arguments == "" {
		return ""
	}
	return "explore " + lock + " " + arguments
}

func (l Lab) command(lock string) string { return "lab " + l.Name + " --lock " + lock }

// Diff gives the command that shows the cure in the code; empty if the two are not neighbours there.
func (l Lab) Diff() string {
	if shows := step(l.Shows); shows < 0 || step(l.Cured) != shows+1 {
		return ""
	}
	return "diff " + l.Shows + " " + l.Cured
}
