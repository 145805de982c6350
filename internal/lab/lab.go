// Package lab reproduces the flaws of running locks, and determines which strategy has which.
//
// A Lab is one anomaly, a row in a table (labs_*.go): its claim, its scenario, and the expected outcome for each lock with the reason. Most
// labs run on the running service, with real replicas, requests and faults, and a witness. Each run has its own Redis and replicas, a Stage
// (stage.go), and leaves nothing behind. The explorer searches for the other anomalies (explorer.go). The Matrix (matrix.go) has all labs
// and all strategies. Observed verdicts come from runs, never from the table. Begin with Lab.Run.
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

// Lab is an experiment about one anomaly, on the running service or in the explorer.
type Lab struct {
	Name  string
	Title language.Text // common name of the problem
	Claim language.Text // promise of a correct lock
	Shows string        // lock with the flaw; empty: no step has it
	Cured string        // lock that cures the flaw; empty: none does
	Cure  language.Text // explanation of the cure

	Explore string // arguments of lockstep explore after the lock that show the anomaly; empty: none
	Needs   []Need // needs that not every environment meets

	ExploreByLock map[string]string // arguments like Explore that count for one lock, by the name of the lock

	Shop     Settings                     // settings of the replicas and of Redis
	Scenario func(*Stage)                 // actions of a run: requests and faults
	Fault    language.Text                // description of Hit, shown when Hit was not met
	Hit      Condition                    // met when the fault took place; otherwise the run proves nothing
	Proof    Condition                    // met when the lock kept its promise; otherwise the verdict is unknown; nil: Hit is enough
	Signs    []witness.FindingKind        // kinds of findings that are the anomaly
	Blames   func(f witness.Finding) bool // filter of the findings in Signs; nil: all count
	Draws    int                          // number of sales in the drawing, from the first; 0: all

	Anomaly  explore.Anomaly // anomaly for which the explorer searches; empty: the lab runs Scenario on the service
	Faults   explore.Faults  // faults of the exploration; zero: Expectation.Scenario names the scenario
	Expected []Expectation   // expected outcomes; of several for the same lock, the first counts
}

// All returns all labs in the order of the evolution: first those on the running service, then the explorer's.
func All() []Lab { return append(OnService(), segmented(explorations())...) }

// OnService returns the labs of the running service.
func OnService() []Lab { return segmented(slices.Concat(steps(), holders(), outages(), replicas())) }

// segmented exempts the strategy segmented from each lab without an expectation of it: each of its segments has a lock like v11.
func segmented(all []Lab) []Lab {
	const name = "segmented"
	for i := range all {
		l := &all[i]
		if !slices.ContainsFunc(l.Expected, func(e Expectation) bool { return e.isAbout(name) }) {
			l.Expected = append(l.Expected, notApplicable(LockNames{name}, "each segment has a v11 lock: see v11", "每段各有一把 v11 锁：见 v11"))
		}
	}
	return all
}

// Find returns a lab of the running service by its name. It returns ErrUnknown if there is none.
func Find(name string) (Lab, error) {
	var names []string
	for _, l := range OnService() {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return Lab{}, language.Translate(fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(names, ", ")),
		"没有“%s”这个实验；可选：%s", name, strings.Join(names, "、"))
}

// Expects returns what the lab expects of a lock. The expectation of v4 also counts for delex, unless delex has its own.
func (l Lab) Expects(lock string) Expectation {
	for _, e := range l.Expected {
		if e.isAbout(lock) || lock == "delex" && e.isAbout("v4") {
			return e
		}
	}
	return notApplicable(LockNames{lock}, "this lab says nothing about it", "这个实验没有涉及它")
}

// Check returns evolution.ErrUnknown for an unknown lock, and ErrNotFor if the lab does not apply to the lock.
func (l Lab) Check(lock string, in language.Language) error {
	if _, err := evolution.Find(lock); err != nil {
		return err
	}
	if e := l.Expects(lock); e.Verdict == verdict.NA {
		return language.Translate(fmt.Errorf("%w: %s, %s: %s", ErrNotFor, l.Name, lock, e.Why.In(in)),
			"实验 %s 不适用于 %s：%s", l.Name, lock, e.Why.In(language.Chinese))
	}
	return nil
}

// Locks returns the locks that a lab runs by default: the lock with the flaw and the lock that cures it, as far as they exist.
func (l Lab) Locks() []string {
	return slices.DeleteFunc([]string{l.Shows, l.Cured}, func(lock string) bool { return lock == "" })
}

// FlawAndCure returns the locks that a lab runs by default, with an arrow from the flaw to the cure, as in "v1 → v2" or "redlock → –".
func (l Lab) FlawAndCure() string {
	if l.Shows != "" && l.Cured == "" {
		return l.Shows + " → –"
	}
	return strings.Join(l.Locks(), " → ")
}

// isCureEarlier reports whether the cure precedes the flaw in the evolution: then the cure is an alternative, not a later step.
func (l Lab) isCureEarlier() bool {
	names := evolution.Names()
	return slices.Index(names, l.Cured) < slices.Index(names, l.Shows)
}

// InExplorer returns the command that shows the anomaly in the explorer for a lock of Locks or ExploreByLock, or "".
func (l Lab) InExplorer(lock string) string {
	arguments := l.ExploreByLock[lock]
	if slices.Contains(l.Locks(), lock) {
		arguments = cmp.Or(arguments, l.Explore)
	}
	if arguments == "" {
		return ""
	}
	return "explore " + lock + " " + arguments
}

// command returns the command that runs the lab with a lock.
func (l Lab) command(lock string) string { return "lab " + l.Name + " --lock " + lock }

// Diff returns the command that shows the cure in the code, or "" if the cure is not the next step.
func (l Lab) Diff() string {
	if shows := stepNumber(l.Shows); shows < 0 || stepNumber(l.Cured) != shows+1 {
		return ""
	}
	return "diff " + l.Shows + " " + l.Cured
}
