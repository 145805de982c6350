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

// ErrTooLarge is returned by NewDistanceMap when a bound is hit before all states are explored.
var ErrTooLarge = lock.WithCode("too_large", "there are too many states for a map")

// DistanceMap contains all states of a scenario and the steps between them. States that differ only in the order of a lock's nodes count as
// one state. With three or more actors, so do states that differ only in the names of actors that start alike.
type DistanceMap struct {
	newHarness func() (*explore.Harness, error) // begins a harness, to find the states along a schedule
	states     map[engine.Fingerprint]int32     // number of each state, by its hash
	edges      []edge                           // steps between the states
}

// edge is a step from one state to another. Two edges may be equal.
type edge struct {
	from, to int32  // numbers of the states
	shows    uint32 // set of bits: anomalyBit of each anomaly that the step shows, and isFault
}

// isFault is the bit in edge.shows of a step that is a fault. The anomalies use the lower bits.
const isFault = 1 << 31

// NewDistanceMap explores all states of a scenario and returns their map, which takes 12 bytes for each step and about 50 for each state.
// It fails with ErrTooLarge if a bound is hit. It calls progress, unless nil, from time to time with the number of states found so far.
func NewDistanceMap(
	ctx context.Context, s strategy.Strategy, scenario explore.Scenario, bounds explore.Bounds, progress func(states int),
) (*DistanceMap, error) {
	if err := scenario.CheckFor(s); err != nil {
		return nil, err
	}
	seeds := engine.NewSeeds()
	m := &DistanceMap{newHarness: func() (*explore.Harness, error) { return explore.NewHarness(s, scenario, explore.Options{}, seeds) }}
	m.states = map[engine.Fingerprint]int32{{}: 0} // The start has the zero key: the search reports no edge to it.
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
		err = fmt.Errorf("%w: %s", ErrTooLarge, explore.BoundText(result.BoundHit, scenario.Language))
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// newEdge returns the edge of a step that a search has explored.
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

// States returns the number of states.
func (m *DistanceMap) States() int { return len(m.states) }

// Steps returns the number of steps between states.
func (m *DistanceMap) Steps() int { return len(m.edges) }

// Bytes returns approximately how much memory the map takes.
func (m *DistanceMap) Bytes() int { return 50*m.States() + 12*m.Steps() }

// anomalyBit returns the bit that stands for an anomaly in edge.shows.
func anomalyBit(a explore.Anomaly) uint32 { return 1 << max(slices.Index(anomaly.All(), a), 0) }

// Distances contains the fewest steps from each state to a goal, or Never, indexed by the state's number.
type Distances []int32

// DistancesTo returns the distances to an anomaly. A state with a next step that shows the anomaly has the distance 1.
func (m *DistanceMap) DistancesTo(a explore.Anomaly) Distances {
	var sources []int32
	for _, s := range m.edges {
		if s.shows&anomalyBit(a) != 0 {
			sources = append(sources, s.from)
		}
	}
	return m.searchBackwards(sources, 1, func(edge) bool { return true })
}

// distancesAvoiding returns the distances to the end of all sales on paths without the anomaly and without a further fault.
func (m *DistanceMap) distancesAvoiding(a explore.Anomaly) Distances {
	hasNext := make([]bool, len(m.states))
	for _, s := range m.edges {
		hasNext[s.from] = true
	}
	var ends []int32
	for n := range hasNext {
		if !hasNext[n] {
			ends = append(ends, int32(n)) //nolint:gosec // state numbers are int32
		}
	}
	return m.searchBackwards(ends, 0, func(s edge) bool { return s.shows&(anomalyBit(a)|isFault) == 0 })
}

// searchBackwards returns the distances to the states of a set, whose own distance is given. It follows the edges that satisfy a condition,
// in a breadth-first search against their direction.
func (m *DistanceMap) searchBackwards(level []int32, distance int32, follows func(edge) bool) Distances {
	// The edges to state n come from predecessors[first[n]:first[n+1]].
	first, predecessors := make([]int32, len(m.states)+1), make([]int32, len(m.edges))
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
