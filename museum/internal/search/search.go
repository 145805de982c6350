// Package search looks at all schedules of a few processes under a library, shortest first, until a budget of runs is used up.
package search

import (
	"errors"
	"slices"
	"time"

	"lockstep/internal/lock/anomaly"
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

// node is a state, by the step that first led to it from another one.
type node struct {
	parent *node // nil for the state that all schedules begin with
	step   string
	print  play.Fingerprint
}

// path are the states on the way to a node, without the first.
func (n *node) path() (all []*node) {
	for ; n.parent != nil; n = n.parent {
		all = append(all, n)
	}
	slices.Reverse(all)
	return all
}

func (n *node) schedule() (steps []string) {
	for _, on := range n.path() {
		steps = append(steps, on.step)
	}
	return steps
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
	root := &node{}
	_, err := s.stage.Play(s.library, s.scenario, nil, func(r *play.Run) error {
		root.print = r.Fingerprint()
		return nil
	})
	if err != nil {
		return err
	}
	for level := []*node{root}; len(level) > 0; {
		var next []*node
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

func (s *search) over() bool {
	return s.result.Runs >= s.goal.Runs || len(s.result.Found) == len(s.goal.Anomalies)
}

// children takes each step that is possible after a node. Strays are states that the steps to the node lead to, too, if chance wills.
func (s *search) children(n *node) (children, strays []*node, err error) {
	for i, more := 0, true; more && !s.over(); i++ {
		var o outcome
		if o, strays, err = s.step(n, i, strays); err != nil {
			return nil, nil, err
		}
		if o.after != nil {
			s.note(o.found, o.after)
			if s.isNew(o.after.print) {
				children = append(children, o.after)
			}
		}
		more = i+1 < o.steps
	}
	return children, strays, nil
}

// step takes the step with this index, in as many attempts as it needs.
func (s *search) step(n *node, i int, strays []*node) (outcome, []*node, error) {
	for range attempts {
		o, err := s.attempt(n, i)
		switch {
		case err == nil && o.stray == nil:
			return o, strays, nil
		case err == nil && s.isNew(o.stray.print):
			strays = append(strays, o.stray)
			s.note(o.found, o.stray)
		case err != nil && !errors.Is(err, play.ErrStale):
			return o, strays, err
		}
	}
	s.result.Missed++
	return outcome{}, strays, nil
}

// outcome is what a run has shown.
type outcome struct {
	stray *node // where it left the way to the node; nil if it did not
	steps int   // that are possible after the node
	after *node // one step further
	found []anomaly.Found
}

// attempt goes the way to a node, and takes the step with this index.
func (s *search) attempt(n *node, i int) (o outcome, err error) {
	s.result.Runs++
	leaked, err := s.stage.Play(s.library, s.scenario, nil, func(r *play.Run) (err error) {
		if o.stray, err = s.follow(r, n); err != nil {
			return err
		}
		if o.stray != nil {
			if _, known := s.seen[o.stray.print]; !known {
				o.found, err = r.Check()
			}
			return err
		}
		steps := r.Steps()
		if o.steps = len(steps); i >= len(steps) {
			return nil
		}
		if err := r.Do(steps[i]); err != nil {
			return err
		}
		o.after = &node{n, steps[i], r.Fingerprint()}
		o.found, err = r.Check()
		return err
	})
	if leaked && o.after != nil {
		o.found = append(o.found, anomaly.Found{Anomaly: anomaly.GoroutineLeak, Says: play.Leaked})
	}
	return o, err
}

// follow goes the way to a node. Where chance leads elsewhere, it ends, and gives the state that it is in.
func (s *search) follow(r *play.Run, to *node) (stray *node, err error) {
	for _, on := range to.path() {
		if err := r.Do(on.step); err != nil {
			return nil, err
		}
		if now := r.Fingerprint(); now != on.print {
			return &node{on.parent, on.step, now}, nil
		}
	}
	return nil, nil
}

func (s *search) isNew(state play.Fingerprint) bool {
	if _, known := s.seen[state]; known {
		return false
	}
	s.seen[state] = struct{}{}
	s.result.States++
	return true
}

// note keeps what has been shown, if it was to be looked for and nothing as short shows it.
func (s *search) note(found []anomaly.Found, by *node) {
	for _, f := range found {
		if !slices.Contains(s.goal.Anomalies, f.Anomaly) {
			continue
		}
		finding := Finding{f, by.schedule()}
		i := slices.IndexFunc(s.result.Found, func(known Finding) bool { return known.Anomaly == f.Anomaly })
		switch {
		case i < 0:
			s.result.Found = append(s.result.Found, finding)
		case len(s.result.Found[i].Schedule) > len(finding.Schedule): // chance may come late
			s.result.Found[i] = finding
		}
	}
}
