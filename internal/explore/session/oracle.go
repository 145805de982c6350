package session

import (
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
)

// Oracle says how far an anomaly is away from where a session is, from where it was, and from where it may go next: the fewest further
// steps, 0 once it was shown, or Never, or Unknown. A way is one to the end of all sales, without a further fault.
type Oracle struct {
	Now      int            `json:"now"`
	Path     []int          `json:"path"`      // after each step; the first is before all of them
	Choices  map[string]int `json:"choices"`   // after each choice, by its token
	NoReturn int            `json:"no_return"` // the step from which on every way shows it, counted from 1; 0: none
	Doomed   bool           `json:"doomed"`    // every way from here shows it, or it was shown
	States   int            `json:"states"`    // of the map
}

// Oracle reads the map for a session in the same scenario.
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
			o.Path = append(o.Path, distances.of(state))
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
			distance = distances.of(states[len(states)-1])
		}
		o.Choices[choice.Token] = distance
	}
	return o, nil
}

// along gives the number of the state after each step of a path, the start's first; -1 for one that is not on the map.
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

// at returns the distance from a state.
func (d Distances) of(state int32) int {
	if state < 0 {
		return Unknown
	}
	return int(d[state])
}
