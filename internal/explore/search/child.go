package search

import (
	"cmp"
	"errors"
	"slices"
)

// child is what one more step led to.
type child[S comparable] struct {
	node[S]
	shown []string
	over  bool // nothing can follow
	note  any
	stray bool        // the steps to a node of this level led here, by chance
	ahead *outcome[S] // of a step after it; nil: no run has gone on to one
}

// children takes every step that there is after a node, each in a run of its own, unless one has gone on to it. A run that chance leads
// elsewhere is repeated.
func (s *search[S]) children(system System[S], of int32) (all []child[S], _ error) {
	path, root := s.path(of)
	for i, attempt := 0, 1; ; {
		c, more, err := s.child(system, of, path, root, i)
		if c != nil {
			all = append(all, *c)
		}
		if s.goal.Attempts > 0 && errors.Is(err, ErrUnrepeatable) {
			s.repeated.Add(1)
			if more, err = attempt < s.goal.Attempts, nil; more {
				attempt++
			} else {
				s.missed.Add(1)
			}
		} else {
			i, attempt = i+1, 1
		}
		if err != nil || !more || s.stopped() {
			return all, err
		}
	}
}

// child takes the step with this index after a node. It gives nil if that is none of its own. If chance led elsewhere, it gives that state,
// and ErrUnrepeatable.
func (s *search[S]) child(system System[S], of int32, path []S, root int32, i int) (c *child[S], more bool, err error) {
	s.check(s.schedules.Load())
	o := s.ahead.known[of]
	switch {
	case o != nil && o.index == i:
	case s.goal.Attempts > 0:
		o = nil
		if stray, err := s.retrace(system, of, root, func(run Run[S]) { o = s.take(run, i) }); stray != nil || err != nil {
			return stray, false, err
		}
	default:
		o, err = s.step(system, of, path, root, i, true)
	}
	if o != nil {
		c, more, path = o.child, o.index < o.options-1, append(slices.Clip(path), o.step)
	}
	if c != nil {
		c.parent = of
		s.schedules.Add(1)
	}
	if err == nil && c != nil && s.goal.Symmetric {
		err = s.symmetry.check(system, path, []sighted{o.seen})
	}
	if err != nil {
		err = system.Explain(err, path, root == backwards)
	}
	return c, more, err
}

// reach runs the code to a state, by a path.
func (s *search[S]) reach(system System[S], path []S, root int32, state Fingerprint, f func(Run[S])) (err error) {
	var other error
	if err = system.Play(path, root == backwards, func(run Run[S]) {
		if len(path) > 0 && run.Fingerprint() != state {
			other = ErrUnrepeatable
			return
		}
		f(run)
	}); err == nil {
		err = other
	}
	return err
}

// retrace runs the code to a node, where chance may lead elsewhere: then it gives the first other state on the way, and ErrUnrepeatable.
func (s *search[S]) retrace(system System[S], to, root int32, f func(Run[S])) (stray *child[S], err error) {
	var way []int32
	for n := to; n != root; n = s.nodes[n].parent {
		way = append(way, n)
	}
	var other error
	err = system.Play(nil, root == backwards, func(run Run[S]) {
		for _, n := range slices.Backward(way) {
			if !run.Apply(s.nodes[n].step) {
				other = ErrUnrepeatable
				return
			}
			if now := run.Fingerprint(); now != s.nodes[n].print {
				other, stray = ErrUnrepeatable, &child[S]{node: s.nodes[n], stray: true}
				stray.print = now
				stray.shown, stray.over = run.Check()
				return
			}
		}
		f(run)
	})
	return stray, cmp.Or(err, other)
}
