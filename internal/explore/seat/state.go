package seat

import (
	"fmt"
	"net/http"

	"lockstep/internal/explore"
	"lockstep/internal/explore/stepper"
	"lockstep/internal/trace"
)

// State is all there is to show of a place.
type State struct {
	View  stepper.View `json:"view"`
	Code  string       `json:"code"`
	Link  string       `json:"link"`
	Stale *Stale       `json:"stale"`
}

func (s *Seat) state(w http.ResponseWriter, r *http.Request) error {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return err
	}
	session, stale, err := s.sessionOf(r, p)
	if err != nil {
		return fmt.Errorf("do: %w", err)
	}
	view := session.Now()
	code := Code(view.Trace)
	if step := differs(p.code, code); step > 0 && (stale == nil || step < stale.Step) {
		stale = &Stale{step, otherwise(p.scenario, step, view.Trace.Steps[step-1])}
	}
	return answer(w, State{View: view, Code: code, Link: Link(view.Lock, view.Scenario, view.Schedule, code), Stale: stale})
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
