package search

import (
	"errors"
	"fmt"

	"lockstep/internal/explore/engine"
	"lockstep/internal/lock/anomaly"
)

// child is what one more step led to.
type child struct {
	node
	found []anomaly.Found
	over  bool // nothing can follow
	sight Sight
}

// children takes every transition that there is after a node, each in a run of its own.
func (s *search) children(worker int, system System, of int32) (all []child, _ error) {
	path, root := s.path(of)
	for i := 0; ; i++ {
		c, more, err := s.child(worker, system, of, path, root, i)
		if c != nil {
			all = append(all, *c)
		}
		if err != nil || !more || s.stopped() {
			return all, err
		}
	}
}

// child runs the code to a node, and takes the transition with this index. It gives nil if that is none of its own.
func (s *search) child(
	worker int, system System, of int32, path []engine.Transition, root int32, i int,
) (c *child, more bool, err error) {
	run, err := s.reach(worker, system, path, root, s.nodes[of].print)
	var transitions []engine.Transition
	if err == nil {
		transitions = run.Transitions()
	}
	if err = errors.Join(run.Err(), err); err != nil || i >= len(transitions) {
		run.Close()
		return nil, false, explain(system, err, path, root)
	}
	s.check(s.schedules.Load())
	t := transitions[i]
	more = i < len(transitions)-1
	step := s.look(run, t)
	asks := s.stuttering.look(run, t, s.goal, step)
	if run.Apply(t) {
		n := s.schedules.Add(1)
		found, over := run.Check()
		step.to = run.Fingerprint()
		asks.after(run, found)
		c = &child{node{of, t, step.to}, found, over, run.Sight()}
		if n <= inspected && !s.goal.Again || n%rarely == 0 {
			run.Inspect()
		}
	}
	run.Close()
	path = append(path, t)
	if err = run.Err(); err == nil && c != nil && s.goal.Symmetric {
		err = s.symmetry.check(system, path, []sighted{step})
	}
	if err == nil && c != nil {
		err = s.stuttering.check(system, path, root, asks)
	}
	return c, more, explain(system, err, path, root)
}

// reach runs the code to a state, by a path.
func (s *search) reach(
	worker int, system System, path []engine.Transition, root int32, state engine.Fingerprint,
) (run Run, err error) {
	run = system.Begin(root == backwards)
	s.watch.follow(worker, run)
	if err = follow(run, path); err == nil && len(path) > 0 && run.Fingerprint() != state {
		err = engine.ErrUnrepeatable
	}
	return run, err
}

// follow runs the code along a path that it has taken before. Code that does something else this time may not find the way.
func follow(run Run, path []engine.Transition) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = engine.ErrUnrepeatable
		}
	}()
	for _, t := range path {
		run.Apply(t)
	}
	return nil
}

// explain adds to an error the schedule that led to it.
func explain(system System, err error, path []engine.Transition, root int32) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, engine.ErrUnrepeatable) && err.Error() == engine.ErrUnrepeatable.Error() { // the line is not known yet
		if where := system.Differs(path, root == backwards); where != "" {
			err = fmt.Errorf("%w: %s", err, where)
		}
	}
	return fmt.Errorf("after %q: %w", system.Trace(path, root == backwards).Schedule(), err)
}
