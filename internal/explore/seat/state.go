package seat

import (
	"context"
	"fmt"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/trace"
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

// otherwise says that a step does something else than when its link was made.
func otherwise(in explore.Scenario, n int, step trace.Step) string {
	now := step.Says
	if step.Command != "" {
		now = step.Command + " → " + step.Reply
	}
	return in.Say("step %d, %s, does something else than when the link was made; now: %s",
		"第 %d 步 %s 与生成链接时的行为不同，现在是：%s", n, step.Token, now)
}
