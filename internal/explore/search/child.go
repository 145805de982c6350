package search

import "slices"

// child is what one more step led to.
type child[S comparable] struct {
	node[S]
	shown []string
	over  bool // nothing can follow
	note  any
	ahead *outcome[S] // of a step after it; nil: no run has gone on to one
}

// children takes every step that there is after a node, each in a run of its own, unless one has gone on to it.
func (s *search[S]) children(system System[S], of int32) (all []child[S], _ error) {
	path, root := s.path(of)
	for i := 0; ; i++ {
		c, more, err := s.child(system, of, path, root, i)
		if c != nil {
			all = append(all, *c)
		}
		if err != nil || !more || s.stopped() {
			return all, err
		}
	}
}

// child takes the step with this index after a node. It gives nil if that is none of its own.
func (s *search[S]) child(system System[S], of int32, path []S, root int32, i int) (c *child[S], more bool, err error) {
	s.check(s.schedules.Load())
	o := s.ahead.known[of]
	if o == nil || o.index != i {
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
