package locktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// attempts are how often a schedule is run until it leads where it led before. The code under test may leave something to chance: which
// of two channels that are both ready a select takes, for example. Go throws dice there, so each way is met soon.
const attempts = 40

type searcher struct {
	stage   *stage
	first   bool // one anomaly is enough
	began   time.Time
	seen    map[fingerprint]struct{}
	checked map[shown]struct{}
	result  Result
}

// shown is a state, and whose step led there: all that check looks at.
type shown struct {
	state fingerprint
	by    string
}

// node is a state, by the step that first led to it from another one.
type node struct {
	parent *node // nil for the state that all schedules begin with
	step   string
	print  fingerprint
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

// search searches, breadth first. A state that was seen is not gone on from.
func search(t *testing.T, c Config, open func(Process) (Lock, error), first bool) (Result, error) {
	stage, err := newStage(t, c, open)
	if err != nil {
		return Result{}, err
	}
	for began := time.Now(); ; {
		scripts := stage.shared.Scripts()
		s := &searcher{stage: stage, first: first, began: began, seen: map[fingerprint]struct{}{}, checked: map[shown]struct{}{}}
		err := s.run()
		s.conclude()
		if err != nil || stage.shared.Scripts() == scripts {
			return s.result, err
		} // else a script was met for the first time: what was sent before it had no name yet
	}
}

// conclude says what the result is worth.
func (s *searcher) conclude() {
	r, g := &s.result, s.stage.game
	r.Took = time.Since(s.began)
	switch {
	case !s.stage.obtained:
		r.Vacuous = "no call of Lock has ever succeeded: is Process.Dial what its client dials with?"
	case !s.stage.locked:
		r.Vacuous = fmt.Sprintf("nothing has ever written the key %q: is Config.Key that of the lock?", g.Key)
	}
	switch {
	case r.Missed > 0:
		r.Incomplete = fmt.Sprintf("%d choices could not be repeated in %d attempts each, and what follows them was left out: does the code "+
			"draw random pauses (math/rand), as a client does before it resends?", r.Missed, attempts)
	case r.Complete || g.Depth > 0 && r.Depth >= g.Depth:
	case r.Runs >= g.Runs:
		r.Incomplete = fmt.Sprintf("Config.Runs, %d, are used up", g.Runs)
	case r.Took >= g.Time:
		r.Incomplete = fmt.Sprintf("Config.Time, %v, is over", g.Time)
	}
}

func (s *searcher) run() error {
	root := &node{}
	_, err := s.stage.play(func(r *run) error {
		root.print = r.fingerprint()
		return nil
	})
	if err != nil {
		return err
	}
	for level := []*node{root}; len(level) > 0; {
		if g := s.stage.game; g.Depth > 0 && s.result.Depth == g.Depth || s.first && len(s.result.Found) > 0 {
			return nil
		}
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

func (s *searcher) over() bool {
	g := s.stage.game
	return s.result.Runs >= g.Runs || len(s.result.Found) == len(Anomalies())-len(g.Allow) || time.Since(s.began) >= g.Time
}

// children takes each step that is possible after a node. Strays are states that the steps to the node lead to, too, if chance wills.
func (s *searcher) children(n *node) (children, strays []*node, err error) {
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
func (s *searcher) step(n *node, i int, strays []*node) (outcome, []*node, error) {
	for range attempts {
		o, err := s.attempt(n, i)
		switch {
		case err == nil && o.stray == nil:
			return o, strays, nil
		case err == nil || errors.Is(err, errStale):
			s.result.Chance++
		}
		switch {
		case err == nil && s.isNew(o.stray.print):
			strays = append(strays, o.stray)
			s.note(o.found, o.stray)
		case err != nil && !errors.Is(err, errStale):
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
	found []Counterexample
}

// attempt goes the way to a node, and takes the step with this index.
func (s *searcher) attempt(n *node, i int) (o outcome, err error) {
	s.result.Runs++
	leaked, err := s.stage.play(func(r *run) (err error) {
		if o.stray, err = s.follow(r, n); err != nil {
			return err
		}
		if o.stray != nil {
			if _, known := s.seen[o.stray.print]; !known {
				o.found, err = r.check()
			}
			return err
		}
		steps := r.tokens()
		if o.steps = len(steps); i >= len(steps) {
			return nil
		}
		if err := r.do(steps[i]); err != nil {
			return err
		}
		o.after = &node{n, steps[i], r.fingerprint()}
		what := shown{o.after.print, r.step.Actor}
		if _, known := s.checked[what]; !known {
			s.checked[what] = struct{}{}
			o.found, err = r.check()
		}
		return err
	})
	if leaked && o.after != nil {
		o.found = append(o.found, Counterexample{Anomaly: GoroutineLeak, Says: leak})
	}
	return o, err
}

// follow goes the way to a node. Where chance leads elsewhere, it ends, and gives the state that it is in.
func (s *searcher) follow(r *run, to *node) (stray *node, err error) {
	for _, on := range to.path() {
		if err := r.do(on.step); err != nil {
			return nil, err
		}
		if now := r.fingerprint(); now != on.print {
			return &node{on.parent, on.step, now}, nil
		}
	}
	return nil, nil
}

func (s *searcher) isNew(state fingerprint) bool {
	if _, known := s.seen[state]; known {
		return false
	}
	s.seen[state] = struct{}{}
	s.result.States++
	return true
}

// note keeps what has been shown, if it was to be looked for and nothing as short shows it.
func (s *searcher) note(found []Counterexample, by *node) {
	for _, f := range found {
		if slices.Contains(s.stage.game.Allow, f.Anomaly) {
			continue
		}
		f.Schedule = strings.Join(by.schedule(), " ")
		i := slices.IndexFunc(s.result.Found, func(known Counterexample) bool { return known.Anomaly == f.Anomaly })
		switch {
		case i < 0:
			s.result.Found = append(s.result.Found, f)
		case s.result.Found[i].Steps() > f.Steps(): // chance may come late
			s.result.Found[i] = f
		}
	}
}
