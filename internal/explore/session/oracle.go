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
func (m *Map) Oracle(s *Session, a explore.Anomaly) (Oracle, error) {
	h, err := m.begin()
	if err != nil {
		return Oracle{}, err
	}
	defer h.Close()
	distances, saved := m.To(a), m.avoiding(a)
	path, view := s.Path(), s.Now()
	shown := len(path) + 1
	for _, other := range view.Hits {
		if other.Anomaly == a {
			shown = other.Step
		}
	}
	o := Oracle{Choices: map[string]int{}, Doomed: true, States: m.States()}
	for n, state := range m.along(h, path) {
		switch {
		case n >= shown:
			o.Path = append(o.Path, 0)
		default:
			o.Path = append(o.Path, distances.at(state))
			if o.Doomed = state < 0 || saved[state] == Never; !o.Doomed {
				o.NoReturn = n + 1
			}
		}
	}
	o.Now = o.Path[len(path)]
	if shown <= len(path) {
		o.Doomed = true
	}
	if !o.Doomed {
		o.NoReturn = 0
	}
	for i, t := range s.next {
		choice := view.Choices[i]
		away := 0
		if shown > len(path) && !slices.Contains(choice.Shows, a) {
			ends := m.along(h, append(path, t))
			away = distances.at(ends[len(ends)-1])
		}
		o.Choices[choice.Token] = away
	}
	return o, nil
}

// along gives the number of the state after each step of a path, the start's first; -1 for one that is not on the map.
func (m *Map) along(h *explore.Harness, path []engine.Transition) []int32 {
	states := []int32{0}
	run := h.Begin()
	defer run.Close()
	for _, t := range path {
		run.Apply(t)
		n, known := m.states[run.Engine.Fingerprint()]
		if !known {
			n = -1
		}
		states = append(states, n)
	}
	return states
}

// at returns the distance from a state.
func (d Distances) at(state int32) int {
	if state < 0 {
		return Unknown
	}
	return int(d[state])
}
