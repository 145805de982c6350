package seat

import (
	"context"
	"fmt"

	"lockstep/internal/explore/session"
)

// State is all there is to show of a place.
type State struct {
	View  session.View `json:"view"`
	Code  string       `json:"code"`
	Link  string       `json:"link"`
	Stale *Stale       `json:"stale"`
}

// State shows a place to a client.
func (s *Seat) State(ctx context.Context, client string, p Place) (State, error) {
	session, stale, err := s.sessionOf(ctx, client, p)
	if err != nil {
		return State{}, fmt.Errorf("do: %w", err)
	}
	view := session.Now()
	code := Code(view.Trace)
	if step := differs(p.Code, code); step > 0 && (stale == nil || step < stale.Step) {
		stale = &Stale{step, otherwise(p.Scenario, step, view.Trace.Steps[step-1])}
	}
	return State{View: view, Code: code, Link: Link(view.Lock, view.Scenario, view.Schedule, code), Stale: stale}, nil
}
