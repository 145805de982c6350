package search

import (
	"slices"
	"sync"
)

// symmetry knows what was run from the other start, too, and led to the same there.
type symmetry[S comparable] struct {
	mu   sync.Mutex
	seen map[Fingerprint]bool // by the views of steps
}

// sighted is what a run saw of a step: the view of it, if it has one, and the state it led to.
type sighted struct {
	view  Fingerprint
	local bool
	to    Fingerprint
}

// look takes down what there is to see of a step before it is taken.
func (s *search[S]) look(run Run[S], step S) (seen sighted) {
	if viewed, is := run.(Viewed[S]); is && s.goal.Symmetric {
		seen.view, seen.local = viewed.View(step)
	}
	return seen
}

// check runs a path from the other start. Its last steps, which somebody saw, have to lead to the same there. It does not if each of them
// has a view that is known: then they do.
func (m *symmetry[S]) check(system System[S], path []S, last []sighted) error {
	if m.hasSeenAll(last) {
		return nil
	}
	before, same := len(path)-len(last), false
	err := system.Play(path[:before], true, func(run Run[S]) { same = leadToTheSame(run, path[before:], last) })
	if !same {
		return ErrNames
	}
	m.learn(last)
	return err
}

// leadToTheSame takes steps. Code that does something else from this start may not find the way.
func leadToTheSame[S comparable](run Run[S], steps []S, seen []sighted) (same bool) {
	defer func() { same = recover() == nil && same }()
	for i, step := range steps {
		run.Apply(step)
		if run.Fingerprint() != seen[i].to {
			return false
		}
	}
	return true
}

func (m *symmetry[S]) hasSeenAll(steps []sighted) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !slices.ContainsFunc(steps, func(s sighted) bool { return !s.local || !m.seen[s.view] })
}

func (m *symmetry[S]) learn(steps []sighted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range steps {
		if s.local {
			m.seen[s.view] = true
		}
	}
}
