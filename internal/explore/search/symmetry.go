package search

import (
	"slices"
	"sync"

	"lockstep/internal/explore/engine"
)

// symmetry knows what was run from the other start, too, and led to the same there.
type symmetry struct {
	mu   sync.Mutex
	seen map[engine.Fingerprint]bool // by the views of steps
}

// sighted is what a run saw of a step: the view of it, if it has one, and the state it led to.
type sighted struct {
	view  engine.Fingerprint
	local bool
	to    engine.Fingerprint
}

// look takes down what there is to see of a step before it is taken.
func (s *search) look(run Run, t engine.Transition) (step sighted) {
	if s.goal.Symmetric || s.goal.Stuttering > 0 {
		step.view, step.local = run.View(t)
	}
	return step
}

// check runs a path from the other start. Its last steps, which somebody saw, have to lead to the same there. It does not if each of them
// has a view that is known: then they do.
func (m *symmetry) check(system System, path []engine.Transition, last []sighted) error {
	if m.hasSeenAll(last) {
		return nil
	}
	run := system.Begin(true)
	defer run.Close()
	before := len(path) - len(last)
	if err := follow(run, path[:before]); err != nil {
		return ErrNames
	}
	for i, step := range last {
		if err := follow(run, path[before+i:before+i+1]); err != nil || run.Fingerprint() != step.to {
			return ErrNames
		}
	}
	m.learn(last)
	return run.Err()
}

func (m *symmetry) hasSeenAll(steps []sighted) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !slices.ContainsFunc(steps, func(s sighted) bool { return !s.local || !m.seen[s.view] })
}

func (m *symmetry) learn(steps []sighted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range steps {
		if s.local {
			m.seen[s.view] = true
		}
	}
}
