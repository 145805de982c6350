package seat

import (
	"context"
	"fmt"

	"lockstep/internal/explore/session"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/trace"
)

// Beside is a schedule under two locks, and the address of each.
type Beside struct {
	session.Comparison

	Links [2]string `json:"links"`
}

// Beside shows a client what a schedule does under another lock, too.
func (s *Seat) Beside(ctx context.Context, client string, p Place, with strategy.Strategy) (b Beside, err error) {
	err = s.run(ctx, client, func(ctx context.Context) (err error) {
		b.Comparison, err = session.Compare(ctx, [2]strategy.Strategy{p.Strategy, with}, p.Scenario, p.Schedule)
		return err
	})
	if err != nil {
		return b, fmt.Errorf("do: %w", err)
	}
	for i, lock := range b.Locks {
		var done trace.Trace // by this one of them
		for _, row := range b.Rows {
			if step := row[i]; step != nil {
				done.Steps = append(done.Steps, *step)
			}
		}
		b.Links[i] = Link(lock, p.Scenario.String(), done.Schedule(), Code(done))
	}
	return b, nil
}
