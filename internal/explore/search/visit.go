package search

import (
	"cmp"
	"errors"
)

// child is a state that one more step has led to.
type child[S comparable] struct {
	node[S]
	Observation
	stray bool // true: chance led the run to this state instead of the intended one
}

// expandNode takes every step that is possible after a node, each in a run of its own. If Goal.Attempts allows it, a run that chance led to
// another state is repeated.
func (s *search[S]) expandNode(system System[S], parent int32) (all []child[S], _ error) {
	path := s.path(parent)
	for i, attempt := 0, 1; ; {
		s.checkBounds(s.schedules.Load())
		c, more, err := s.visitChild(system, parent, path, i)
		if c != nil {
			all = append(all, *c)
			s.schedules.Add(1)
		}
		if s.goal.Attempts > 0 && errors.Is(err, ErrUnrepeatable) {
			s.diverged.Add(1)
			if more, err = attempt < s.goal.Attempts, nil; more {
				attempt++
			} else {
				s.unreached.Add(1)
			}
		} else {
			i, attempt = i+1, 1
		}
		if err != nil || !more || s.isStopped() {
			return all, err
		}
	}
}

// visitChild starts a run, retraces the path from the root to a node, and then takes the node's step with index i. The child is the state
// that this step leads to, or nil if Run.Apply reports that the result is not a step of its own. If the run leaves the path, the error is
// ErrUnrepeatable, and the child is what retrace returns. more is true if the node has further steps.
func (s *search[S]) visitChild(system System[S], parent int32, path []node[S], i int) (c *child[S], more bool, err error) {
	var next []S
	diverged := false
	err = system.Play(func(run Run[S]) {
		if c, diverged = s.retrace(run, path); diverged {
			return
		}
		options := run.Transitions()
		if more = i+1 < len(options); i >= len(options) {
			return
		}
		step := options[i]
		if next = append(next, step); run.Apply(step) {
			observation := run.Check()
			c = &child[S]{node: node[S]{parent, step, run.Fingerprint()}, Observation: observation}
		}
	})
	if diverged {
		err = cmp.Or(err, ErrUnrepeatable)
	}
	if err != nil {
		err = system.Explain(err, pathSteps(path, next...))
	}
	return c, more, err
}

// retrace takes the steps of a path. diverged is true if a step cannot happen, or leads to a state other than the recorded one. In the
// second case, stray is that state if Goal.Attempts > 0; otherwise stray is nil.
func (s *search[S]) retrace(run Run[S], path []node[S]) (stray *child[S], diverged bool) {
	for i, n := range path {
		if !run.Apply(n.step) {
			return nil, true
		}
		if s.goal.Attempts == 0 && i < len(path)-1 {
			continue // comparing the last state is enough
		}
		if state := run.Fingerprint(); state != n.state {
			if s.goal.Attempts > 0 {
				stray = &child[S]{node: node[S]{n.parent, n.step, state}, Observation: run.Check(), stray: true}
			}
			return stray, true
		}
	}
	return nil, false
}
