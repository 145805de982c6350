package search

import "slices"

// child is what one more step led to.
type child[S comparable] struct {
	node[S]
	shown []string
	over  bool // nothing can follow
	note  any
}

// children takes every step that there is after a node, each in a run of its own.
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

// child runs the code to a node, and takes the step with this index. It gives nil if that is none of its own.
func (s *search[S]) child(system System[S], of int32, path []S, root int32, i int) (c *child[S], more bool, err error) {
	var seen sighted
	err = s.reach(system, path, root, s.nodes[of].print, func(run Run[S]) {
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
			c = &child[S]{node[S]{of, step, seen.to}, shown, over, nil}
			if noted, is := run.(Noted); is {
				c.note = noted.Note()
			}
		}
	})
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
