// Package search looks at all schedules of a few processes under a library, shortest first, until a budget of runs is used up.
package search

import (
	"errors"
	"slices"
	"time"

	"lockstep/internal/explore/anomaly"

	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
)

// attempts are how often a schedule is run until it leads where it led before. The code under test may leave something to chance: which
// of two channels that are both ready a select takes, for example. Go throws dice there, so each way is met soon.
const attempts = 40

// Goal says what a search is for.
type Goal struct {
	Runs      int               // at most
	Anomalies []anomaly.Anomaly // to look for; it ends when each was found
}

// Result is what a search found.
type Result struct {
	Runs     int
	States   int
	Depth    int  // all schedules of so many steps were run
	Complete bool // and there are no longer ones
	Missed   int  // states that no attempt led to again; what follows them was left out
	Took     time.Duration
	Found    []Finding
}

// Finding is the shortest schedule that shows an anomaly.
type Finding struct {
	anomaly.Found
	Schedule []string
}

type search struct {
	stage    *play.Stage
	library  library.Library
	scenario play.Scenario
	goal     Goal
	seen     map[play.Fingerprint]struct{}
	result   Result
}

// node is a state, by the schedule that first led to it.
type node struct {
	schedule []string
	print    play.Fingerprint
}

// Do searches, breadth first. A state that was seen is not gone on from.
func Do(stage *play.Stage, l library.Library, in play.Scenario, goal Goal) (Result, error) {
	began := time.Now()
	for {
		scripts := stage.Scripts()
		s := &search{stage: stage, library: l, scenario: in, goal: goal, seen: map[play.Fingerprint]struct{}{}}
		err := s.run()
		s.result.Took = time.Since(began)
		if err != nil || stage.Scripts() == scripts {
			return s.result, err
		} // else a script was met for the first time: what was sent before it had no name yet
	}
}

func (s *search) run() error {
	root, err := s.begin()
	if err != nil {
		return err
	}
	for level := []node{root}; len(level) > 0; {
		var next []node
		for i := 0; i < len(level); i++ { // it may grow
			children, strays, err := s.children(level[i])
			if err != nil {
				return err
			}
			next, level = append(next, children...), append(level, strays...)
			if s.over() {
				return nil
			}
		}
		level = next
		s.result.Depth++
	}
	s.result.Complete = s.result.Missed == 0
	return nil
}

// begin gives the state that all schedules begin with.
func (s *search) begin() (root node, err error) {
	_, err = s.stage.Play(s.library, s.scenario, nil, func(r *play.Run) error {
		root.print = r.Fingerprint()
		return nil
	})
	return root, err
}

func (s *search) over() bool {
	return s.result.Runs >= s.goal.Runs || len(s.result.Found) == len(s.goal.Anomalies)
}

// children takes each step that is possible after a node. Strays are states that the node's own schedule leads to, too, if chance wills.
func (s *search) children(n node) (children, strays []node, err error) {
	for i, more := 0, true; more && !s.over(); i++ {
		var o outcome
		if o, strays, err = s.step(n, i, strays); err != nil {
			return nil, nil, err
		}
		if o.after != nil {
			s.note(o.found, o.after.schedule)
		}
		if o.after != nil && s.isNew(o.after.print) {
			children = append(children, *o.after)
		}
		more = i+1 < o.steps
	}
	return children, strays, nil
}

// step takes the step with this index, in as many attempts as it needs.
func (s *search) step(n node, i int, strays []node) (outcome, []node, error) {
	for range attempts {
		o, err := s.attempt(n, i)
		switch {
		case err == nil && o.before == n.print:
			return o, strays, nil
		case err == nil && s.isNew(o.before):
			strays = append(strays, node{n.schedule, o.before})
			s.note(o.found, n.schedule)
		case err != nil && !errors.Is(err, play.ErrStale):
			return o, strays, err
		}
	}
	s.result.Missed++
	return outcome{}, strays, nil
}

// outcome is what a run has shown.
type outcome struct {
	before play.Fingerprint // of the state after the node's schedule
	steps  int              // that are possible there
	after  *node            // one step further
	found  []anomaly.Found
}

// attempt runs the schedule of a node, and takes the step with this index if that leads to the node.
func (s *search) attempt(n node, i int) (o outcome, err error) {
	s.result.Runs++
	leaked, err := s.stage.Play(s.library, s.scenario, n.schedule, func(r *play.Run) (err error) {
		steps := r.Steps()
		o.before, o.steps = r.Fingerprint(), len(steps)
		if o.before != n.print {
			return s.stray(r, &o)
		}
		if i >= len(steps) {
			return nil
		}
		if err := r.Do(steps[i]); err != nil {
			return err
		}
		o.after = &node{append(slices.Clip(n.schedule), steps[i]), r.Fingerprint()}
		o.found, err = r.Check()
		return err
	})
	if leaked && o.after != nil {
		o.found = append(o.found, anomaly.Found{Anomaly: anomaly.GoroutineLeak, Says: play.Leaked})
	}
	return o, err
}

// stray checks a state that chance has led to, unless it was seen.
func (s *search) stray(r *play.Run, o *outcome) (err error) {
	if _, known := s.seen[o.before]; !known {
		o.found, err = r.Check()
	}
	return err
}

func (s *search) isNew(state play.Fingerprint) bool {
	if _, known := s.seen[state]; known {
		return false
	}
	s.seen[state] = struct{}{}
	s.result.States++
	return true
}

// note keeps what a schedule has shown, if it was to be looked for and nothing shorter shows it.
func (s *search) note(found []anomaly.Found, schedule []string) {
	for _, f := range found {
		known := slices.ContainsFunc(s.result.Found, func(k Finding) bool { return k.Anomaly == f.Anomaly })
		if !known && slices.Contains(s.goal.Anomalies, f.Anomaly) {
			s.result.Found = append(s.result.Found, Finding{f, schedule})
		}
	}
}
