package seat

import (
	"context"
	"fmt"
	"net/http"

	"lockstep/internal/explore/stepper"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/trace"
)

// Beside is a schedule under two locks, and the address of each.
type Beside struct {
	stepper.Comparison

	Links [2]string `json:"links"`
}

func (s *Seat) beside(w http.ResponseWriter, r *http.Request) error {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return err
	}
	with, err := evolution.Find(r.URL.Query().Get("with"))
	if err != nil {
		return fmt.Errorf("with: %w", err)
	}
	if err := p.scenario.CheckFor(with); err != nil {
		return fmt.Errorf("%w: in: %w", ErrQuery, err)
	}
	var c stepper.Comparison
	err = s.run(r.Context(), s.limits.Client(r), func(ctx context.Context) (err error) {
		c, err = stepper.Compare(ctx, [2]strategy.Strategy{p.strategy, with}, p.scenario, p.schedule)
		return err
	})
	if err != nil {
		return fmt.Errorf("do: %w", err)
	}
	b := Beside{Comparison: c}
	for i, lock := range c.Locks {
		var done trace.Trace // by this one of them
		for _, row := range c.Rows {
			if step := row[i]; step != nil {
				done.Steps = append(done.Steps, *step)
			}
		}
		b.Links[i] = Link(lock, p.scenario.String(), done.Schedule(), Code(done))
	}
	return answer(w, b)
}
