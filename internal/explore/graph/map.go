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
	"lockstep/internal/strategy"
)

// ErrTooLarge means that a bound was hit before all states were seen.
var ErrTooLarge = errors.New("there are too many states for a map")

// Map is all states of a scenario, and the steps between them.
type Map struct {
	strategy strategy.Strategy
	harness  *harness.Harness // to find a state by its schedule
	states   map[execution.Fingerprint]int32
	steps    []step
}

// step leads from one state to another. Two may be the same.
type step struct {
	from, to int32
	shows    uint32 // a bit for each anomaly
}

// Draw makes a map of all states, and keeps every step: 12 bytes each, and some 50 for each state. It fails with ErrTooLarge if a bound is
// hit.
func Draw(ctx context.Context, s strategy.Strategy, in explore.Scenario, bounds explore.Bounds) (*Map, error) {
	if err := in.CheckFor(s); err != nil {
		return nil, err
	}
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	begin := func() (*harness.Harness, error) { return harness.New(s, in, true, seeds) }
	m := &Map{strategy: s, states: map[execution.Fingerprint]int32{{}: 0}}
	result, err := search.Do(ctx, func() (search.System, error) {
		h, err := begin()
		return system{Harness: h}, err
	}, search.Goal{OneStart: true, Edge: m.add, Language: in.Language}, bounds)
	if err == nil && !result.Complete {
		err = fmt.Errorf("%w: %s", ErrTooLarge, result.Bound)
	}
	if err != nil {
		return nil, err
	}
	m.harness, err = begin()
	return m, err
}

// Close ends a map.
func (m *Map) Close() { m.harness.Close() }

// States is how many there are.
func (m *Map) States() int { return len(m.states) }

// Steps is how many there are.
func (m *Map) Steps() int { return len(m.steps) }

func (m *Map) add(from, to execution.Fingerprint, found []anomaly.Found) {
	var shows uint32
	for _, f := range found {
		if f.Anomaly.Applies(m.strategy) {
			shows |= bit(f.Anomaly)
		}
	}
	m.steps = append(m.steps, step{m.state(from), m.state(to), shows})
}

func bit(a explore.Anomaly) uint32 { return 1 << max(slices.Index(anomaly.All(), a), 0) }

// state is the number of a state.
func (m *Map) state(of execution.Fingerprint) int32 {
	n, known := m.states[of]
	if !known {
		n = int32(len(m.states)) //nolint:gosec // memory ends before int32 does
		m.states[of] = n
	}
	return n
}

// Distances says for each state how far an anomaly is away.
type Distances struct {
	of    *Map
	steps []int32 // of each state
}

// To goes backwards from the steps that show an anomaly: those who lead there are one step away, those who lead to them two, and so on.
func (m *Map) To(a explore.Anomaly) Distances {
	first, into := m.backwards()
	d := Distances{m, slices.Repeat([]int32{Never}, len(m.states))}
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

// backwards lists, for each state, those that lead to it: into[first[n]:first[n+1]].
func (m *Map) backwards() (first, into []int32) {
	first, into = make([]int32, len(m.states)+1), make([]int32, len(m.steps))
	for _, s := range m.steps {
		first[s.to+1]++
	}
	for n := range len(m.states) {
		first[n+1] += first[n]
	}
	at := slices.Clone(first)
	for _, s := range m.steps {
		into[at[s.to]] = s.from
		at[s.to]++
	}
	return first, into
}

// After is the distance from the state that a schedule leads to: Never if no way from there shows the anomaly. It is Unknown if the
// schedule leads to none of the map's states.
func (d Distances) After(path []execution.Transition) int {
	n, known := int32(0), true
	if len(path) > 0 {
		run := d.of.harness.Begin(false)
		defer run.Close()
		for _, t := range path {
			run.Apply(t)
		}
		n, known = d.of.states[run.Fingerprint()]
	}
	if !known {
		return Unknown
	}
	return int(d.steps[n])
}

// Counts says how many states are so far away: how many by the number of steps, and how many never show the anomaly.
func (d Distances) Counts() (away map[int]int, never int) {
	away = map[int]int{}
	for _, steps := range d.steps {
		if steps == Never {
			never++
		} else {
			away[int(steps)]++
		}
	}
	return away, never
}
