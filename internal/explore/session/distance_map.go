package session

import (
	"context"
	"fmt"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/search"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// ErrTooLarge means that a bound was hit before all states were seen.
var ErrTooLarge = lock.WithCode("too_large", "there are too many states for a map")

// Map is all states of a scenario, and the steps between them. Actors that start alike are interchangeable on it, if there are three or
// more of them. So are the nodes of a lock that is on several.
type DistanceMap struct {
	newHarness func() (*explore.Harness, error) // to find a state by its schedule
	states     map[engine.Fingerprint]int32
	edges      []edge
}

// step leads from one state to another. Two may be the same.
type edge struct {
	from, to int32
	shows    uint32 // a bit for each anomaly, and isFault
}

const isFault = 1 << 31

// Draw makes a map of all states, and keeps every step: 12 bytes each, and some 50 for each state. It fails with ErrTooLarge if a bound is
// hit. Progress, if it is not nil, is told every now and then how many states there are.
func Draw(
	ctx context.Context, s strategy.Strategy, in explore.Scenario, bounds explore.Bounds, progress func(states int),
) (*DistanceMap, error) {
	if err := in.CheckFor(s); err != nil {
		return nil, err
	}
	seeds := engine.NewSeeds()
	m := &DistanceMap{newHarness: func() (*explore.Harness, error) { return explore.NewHarness(s, in, explore.Options{}, seeds) }}
	m.states = map[engine.Fingerprint]int32{{}: 0} // the start's is asked of nobody
	goal := search.Goal[engine.Transition]{OnEdge: func(e search.Edge[engine.Transition]) {
		m.states[e.State] = e.To
		m.edges = append(m.edges, newEdge(e, s))
	}}
	if progress != nil {
		goal.Progress = func(r search.Result) { progress(r.States) }
	}
	result, _, err := search.BreadthFirst(ctx, func() (search.System[engine.Transition], error) {
		h, err := m.newHarness()
		return explore.System{Harness: h}, err
	}, goal, bounds)
	if err == nil && !result.Complete {
		err = fmt.Errorf("%w: %s", ErrTooLarge, explore.BoundText(result.BoundHit, in.Language))
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func newEdge(e search.Edge[engine.Transition], lock strategy.Strategy) edge {
	var shows uint32
	for _, kind := range e.Hits {
		if a := explore.Anomaly(kind); a.IsPromisedBy(lock) {
			shows |= anomalyBit(a)
		}
	}
	if e.Step.Kind.Budget() != fault.None {
		shows |= isFault
	}
	return edge{e.From, e.To, shows}
}

// States returns how many there are.
func (m *DistanceMap) States() int { return len(m.states) }

// Steps returns how many there are.
func (m *DistanceMap) Steps() int { return len(m.edges) }

// Bytes returns about how much memory it takes.
func (m *DistanceMap) Bytes() int { return 50*m.States() + 12*m.Steps() }

func anomalyBit(a explore.Anomaly) uint32 { return 1 << max(slices.Index(anomaly.All(), a), 0) }

// Distances says of each state how far something is away: so many steps, or Never.
type Distances []int32

// To says how far an anomaly is away: those whose next step may show it are one step away.
func (m *DistanceMap) DistancesTo(a explore.Anomaly) Distances {
	var sources []int32
	for _, s := range m.edges {
		if s.shows&anomalyBit(a) != 0 {
			sources = append(sources, s.from)
		}
	}
	return m.searchBackwards(sources, 1, func(edge) bool { return true })
}

// avoiding says how far the end of all sales is away, by a way without the anomaly, and without a further fault.
func (m *DistanceMap) distancesAvoiding(a explore.Anomaly) Distances {
	hasNext := make([]bool, len(m.states))
	for _, s := range m.edges {
		hasNext[s.from] = true
	}
	var ends []int32
	for n := range hasNext {
		if !hasNext[n] {
			ends = append(ends, int32(n)) //nolint:gosec // as many as Map.states counts
		}
	}
	return m.searchBackwards(ends, 0, func(s edge) bool { return s.shows&(anomalyBit(a)|isFault) == 0 })
}

// backwards goes backwards from states that are so far away, by such steps: those that lead there are one step further, those that lead to
// them two, and so on.
func (m *DistanceMap) searchBackwards(level []int32, distance int32, follows func(edge) bool) Distances {
	first, predecessors := make([]int32, len(m.states)+1), make([]int32, len(m.edges)) // to n lead into[first[n]:first[n+1]]
	for _, s := range m.edges {
		if follows(s) {
			first[s.to+1]++
		}
	}
	for n := range len(m.states) {
		first[n+1] += first[n]
	}
	next := slices.Clone(first)
	for _, s := range m.edges {
		if follows(s) {
			predecessors[next[s.to]] = s.from
			next[s.to]++
		}
	}
	distances := Distances(slices.Repeat([]int32{Never}, len(m.states)))
	for ; len(level) > 0; distance++ {
		var sources []int32
		for _, n := range level {
			if distances[n] == Never {
				distances[n] = distance
				sources = append(sources, predecessors[first[n]:first[n+1]]...)
			}
		}
		level = sources
	}
	return distances
}
