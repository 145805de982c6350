package graph

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/harness"
	"lockstep/internal/explore/search"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
)

// ErrTooLarge means that a bound was hit before all states were seen.
var ErrTooLarge = lock.WithCode("too_large", "there are too many states for a map")

// Map is all states of a scenario, and the steps between them. Actors that start alike are interchangeable on it, if there are three or
// more of them, and if the code is blind to their names. So are the nodes of a lock that is on several.
type Map struct {
	begin  func() (*harness.Harness, error) // to find a state by its schedule
	states map[execution.Fingerprint]int32
	steps  []step
}

// step leads from one state to another. Two may be the same.
type step struct {
	from, to int32
	shows    uint32 // a bit for each anomaly, and isFault
}

const isFault = 1 << 31

// Draw makes a map of all states, and keeps every step: 12 bytes each, and some 50 for each state. It fails with ErrTooLarge if a bound is
// hit. Progress, if it is not nil, is told every now and then how many states there are.
func Draw(ctx context.Context, s strategy.Strategy, in explore.Scenario, bounds explore.Bounds, progress func(states int)) (*Map, error) {
	if err := in.CheckFor(s); err != nil {
		return nil, err
	}
	d := drawing{strategy: s, scenario: in, bounds: bounds, progress: progress}
	alike := in.Actors > 2 && in.Alike() && in.SalesEach() == 1 && !s.OnNodes
	m, err := d.draw(ctx, alike)
	if errors.Is(err, search.ErrNames) {
		m, err = d.draw(ctx, false)
	}
	return m, err
}

// drawing is a map in the making.
type drawing struct {
	strategy strategy.Strategy
	scenario explore.Scenario
	bounds   explore.Bounds
	progress func(states int)
}

func (d drawing) draw(ctx context.Context, alike bool) (*Map, error) {
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	begin := func() (*harness.Harness, error) {
		h, err := harness.New(d.strategy, d.scenario, false, seeds)
		switch {
		case err != nil:
		case alike:
			h.Interchange()
		default:
			h.EveryStart()
		}
		return h, err
	}
	goal := search.Goal{OneStart: true, Mirrored: alike, Language: d.scenario.Language}
	if d.progress != nil {
		goal.Progress = func(r search.Result) { d.progress(r.States) }
	}
	m := &Map{begin: begin}
	states, result, err := search.Walk(ctx, func() (search.System, error) {
		h, err := begin()
		return harness.System{Harness: h}, err
	}, func(e search.Edge) { m.steps = append(m.steps, d.step(e)) }, goal, d.bounds)
	if err == nil && !result.Complete {
		err = fmt.Errorf("%w: %s", ErrTooLarge, result.Bound)
	}
	if err != nil {
		return nil, err
	}
	m.states = states
	return m, nil
}

func (d drawing) step(e search.Edge) step {
	var shows uint32
	for _, f := range e.Shows {
		if f.Anomaly.Applies(d.strategy) {
			shows |= bit(f.Anomaly)
		}
	}
	if e.By.Kind.Uses() != "" {
		shows |= isFault
	}
	return step{e.From, e.To, shows}
}

// States returns how many there are.
func (m *Map) States() int { return len(m.states) }

// Steps returns how many there are.
func (m *Map) Steps() int { return len(m.steps) }

// Bytes returns about how much memory it takes.
func (m *Map) Bytes() int { return 50*m.States() + 12*m.Steps() }

func bit(a explore.Anomaly) uint32 { return 1 << max(slices.Index(anomaly.All(), a), 0) }

// Distances says for each state how far an anomaly is away.
type Distances struct {
	steps []int32 // of each state
}

// To goes backwards from the steps that show an anomaly: those who lead there are one step away, those who lead to them two, and so on.
func (m *Map) To(a explore.Anomaly) Distances {
	first, into := m.backwards(func(step) bool { return true })
	d := Distances{slices.Repeat([]int32{Never}, len(m.states))}
	var level, next []int32
	for _, s := range m.steps {
		if s.shows&bit(a) != 0 && d.steps[s.from] == Never {
			d.steps[s.from] = 1
			level = append(level, s.from)
		}
	}
	for away := int32(2); len(level) > 0; away++ {
		next = next[:0]
		for _, to := range level {
			for _, from := range into[first[to]:first[to+1]] {
				if d.steps[from] == Never {
					d.steps[from] = away
					next = append(next, from)
				}
			}
		}
		level, next = next, level
	}
	return d
}

// backwards lists, for each state, those that lead to it by such steps: into[first[n]:first[n+1]].
func (m *Map) backwards(by func(step) bool) (first, into []int32) {
	first, into = make([]int32, len(m.states)+1), make([]int32, len(m.steps))
	for _, s := range m.steps {
		if by(s) {
			first[s.to+1]++
		}
	}
	for n := range len(m.states) {
		first[n+1] += first[n]
	}
	at := slices.Clone(first)
	for _, s := range m.steps {
		if by(s) {
			into[at[s.to]] = s.from
			at[s.to]++
		}
	}
	return first, into
}
