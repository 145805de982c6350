package session

import (
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
)

// Oracle contains the distances to an anomaly from the present, the past and the next states of a session. A distance is the fewest further
// steps, 0 once the anomaly was shown, or Never, or Unknown. A state is doomed if no path to the end of all sales, without a further fault,
// avoids the anomaly.
type Oracle struct {
	Now      int            `json:"now"`       // distance from the present state
	Path     []int          `json:"path"`      // distance before the first step, then after each step
	Choices  map[string]int `json:"choices"`   // distance after each choice, by token
	NoReturn int            `json:"no_return"` // 1-based step that made the present state doomed; 0: it is not doomed
	Doomed   bool           `json:"doomed"`    // the present state is doomed, or the anomaly was shown
	States   int            `json:"states"`    // number of states of the map
}

// Oracle returns the distances to the anomaly a from the states and the choices of the session s, which must be in the map's scenario.
func (m *DistanceMap) Oracle(s *Session, a explore.Anomaly) (Oracle, error) {
	h, err := m.newHarness()
	if err != nil {
		return Oracle{}, err
	}
	defer h.Close()
	distances, distancesToCleanEnd := m.DistancesTo(a), m.distancesAvoiding(a)
	path, view := s.Path(), s.Now()
	shownStep := len(path) + 1
	for _, other := range view.Hits {
		if other.Anomaly == a {
			shownStep = other.Step
		}
	}
	o := Oracle{Choices: map[string]int{}, Doomed: true, States: m.States()}
	for n, state := range m.statesAlong(h, path) {
		switch {
		case n >= shownStep:
			o.Path = append(o.Path, 0)
		default:
			o.Path = append(o.Path, distances.distanceFrom(state))
			if o.Doomed = state < 0 || distancesToCleanEnd[state] == Never; !o.Doomed {
				o.NoReturn = n + 1
			}
		}
	}
	o.Now = o.Path[len(path)]
	if shownStep <= len(path) {
		o.Doomed = true
	}
	if !o.Doomed {
		o.NoReturn = 0
	}
	for i, t := range s.nextTransitions {
		choice := view.Choices[i]
		distance := 0
		if shownStep > len(path) && !slices.Contains(choice.Shows, a) {
			states := m.statesAlong(h, append(path, t))
			distance = distances.distanceFrom(states[len(states)-1])
		}
		o.Choices[choice.Token] = distance
	}
	return o, nil
}

// statesAlong returns the numbers of the start and of the state after each step of a path; -1 for a state that the map lacks.
func (m *DistanceMap) statesAlong(h *explore.Harness, path []engine.Transition) []int32 {
	states := []int32{0}
	run := h.Begin()
	defer run.Close()
	for _, t := range path {
		run.Apply(t)
		n, ok := m.states[run.Engine.Fingerprint()]
		if !ok {
			n = -1
		}
		states = append(states, n)
	}
	return states
}

// distanceFrom returns the distance from a state; Unknown if the map lacks the state.
func (d Distances) distanceFrom(state int32) int {
	if state < 0 {
		return Unknown
	}
	return int(d[state])
}
