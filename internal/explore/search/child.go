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
	stray bool // the steps to a node of this level led here, by chance
}

// children takes every step that there is after a node, each in a run of its own, which is repeated if chance leads elsewhere.
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

// child runs the code to a node, and takes the step with this index. It gives nil if that is none of its own. If chance led elsewhere, it
// gives that state, and ErrUnrepeatable.
func (s *search[S]) child(system System[S], of int32, path []S, root int32, i int) (c *child[S], more bool, err error) {
	var seen sighted
	take := func(run Run[S]) {
		options := run.Transitions()
		if run.Err() != nil || i >= len(options) {
			return
		}
		s.check(s.schedules.Load())
		step := options[i]
		more = i < len(options)-1
		path = append(slices.Clip(path), step)
		seen = s.look(run, step)
		if run.Apply(step) {
			s.schedules.Add(1)
			shown, over := run.Check()
			seen.to = run.Fingerprint()
			c = &child[S]{node: node[S]{of, step, seen.to}, shown: shown, over: over}
			if noted, is := run.(Noted); is {
				c.note = noted.Note()
			}
		}
	}
	if s.goal.Attempts > 0 {
		if stray, err := s.retrace(system, of, root, take); stray != nil || err != nil {
			return stray, more, err
		}
	} else {
		err = s.reach(system, path, root, s.nodes[of].print, take)
	}
	if err == nil && c != nil && s.goal.Symmetric {
		err = s.symmetry.check(system, path, []sighted{seen})
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
