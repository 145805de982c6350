package session

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/trace"
)

// Comparison is one schedule under two locks.
type Comparison struct {
	Locks   [2]string          `json:"locks"`
	Rows    []Row              `json:"rows"`
	Differs int                `json:"differs"` // the first row that does, counted from 1; 0: none
	Why     []string           `json:"why"`     // it does, a sentence each
	Shown   [2][]explore.Shown `json:"shown"`   // by each lock; the step is the row

	Schedules [2]string      `json:"schedules"` // what each lock did
	Traces    [2]trace.Trace `json:"-"`         // of it
}

// Row is a step under each lock. One is nil if a lock does nothing of that kind: some begin an attempt by looking at the clock, which is a
// step, and some by their command. From the first step that differs on, the second one is nil if that cannot happen.
type Row [2]*trace.Step

// Compare runs a schedule of the first lock, and the same under the second, as far as it can: the same things happen to the same actors,
// whatever their commands are called. Two steps differ if they do not mean the same, or if what is so after them is not the same. Each lock
// goes along its schedule once. Compare fails with the error of ctx if that ends before.
func Compare(ctx context.Context, locks [2]strategy.Strategy, in explore.Scenario, schedule string) (Comparison, error) {
	c := Comparison{Locks: [2]string{locks[0].Name, locks[1].Name}, Rows: []Row{}, Why: []string{}}
	c.Shown = [2][]explore.Shown{{}, {}}
	var sides [2]side
	for i, lock := range locks {
		h, err := begin(ctx, lock, in)
		if err != nil {
			return c, err
		}
		defer h.Close()
		sides[i] = side{h.Walk(), lock, in}
		defer sides[i].Close()
	}
	tokens := strings.Fields(schedule)
	for i, token := range tokens {
		err := sides[0].Take(token)
		if errors.Is(err, explore.ErrStale) {
			err = cmp.Or(sides[0].refusal(ctx, strings.Join(tokens[:i], " "), token), err)
		}
		if err != nil {
			return c, explore.AtStep(in, i+1, token, err)
		}
		if err := c.follow(ctx, sides[0].Last(), sides[1]); err != nil {
			return c, err
		}
	}
	for i, s := range sides {
		c.ended(i, s.Trace(), s.Shown)
	}
	return c, nil
}

// side is what one lock does.
type side struct {
	*explore.Walk
	lock strategy.Strategy
	in   explore.Scenario
}

// refusal says why a token cannot follow a schedule.
func (s side) refusal(ctx context.Context, after, token string) error {
	session, err := NewWithContext(ctx, s.lock, s.in, after)
	if err != nil {
		return err
	}
	defer session.Close()
	return session.refuse(token)
}

// ended takes down what a lock did, and has shown.
func (c *Comparison) ended(lock int, done trace.Trace, shown []explore.Shown) {
	c.Traces[lock], c.Schedules[lock], c.Shown[lock] = done, done.Schedule(), append([]explore.Shown{}, shown...)
	var rows []int // of its steps
	for i, row := range c.Rows {
		if row[lock] != nil {
			rows = append(rows, i+1)
		}
	}
	for i, shown := range shown {
		c.Shown[lock][i].Step = rows[shown.Step-1]
	}
}

// follow lets the second lock do what the first one did.
func (c *Comparison) follow(ctx context.Context, first *trace.Step, second side) error {
	who, _, _ := strings.Cut(first.Token, ":")
	does, err := engine.ParseToken(first.Token)
	if err != nil {
		return err
	}
	begins := false // the second does; of a move, that is seen once it is made
	if first.Kind == trace.KindBegins || does.Kind != engine.Moves {
		if begins, err = second.Begins(who); err != nil {
			return err
		}
	}
	switch {
	case first.Kind == trace.KindBegins && !begins:
		c.Rows = append(c.Rows, Row{first, nil})
		return nil
	case first.Kind != trace.KindBegins && begins:
		if _, err := second.TakeAs(who + ":" + trace.KindBegins); err != nil {
			return err
		}
		c.Rows = append(c.Rows, Row{nil, second.Last()})
	}
	took, err := second.TakeAs(first.Token)
	if took && err == nil && first.Kind != trace.KindBegins && second.Last().Kind == trace.KindBegins {
		c.Rows = append(c.Rows, Row{nil, second.Last()})
		took, err = second.TakeAs(first.Token)
	}
	if err != nil {
		return err
	}
	var same *trace.Step
	if took {
		same = second.Last()
	}
	c.Rows = append(c.Rows, Row{first, same})
	if c.Differs > 0 {
		return nil
	}
	if took {
		c.Why = append(c.Why, differences(c.Locks, [2]*trace.Step{first, same}, second)...)
	} else if err := c.refuse(ctx, first.Token, second); err != nil {
		return err
	}
	if len(c.Why) > 0 {
		c.Differs = len(c.Rows)
	}
	return nil
}

// refuse says why the second lock cannot do what the first one did.
func (c *Comparison) refuse(ctx context.Context, token string, second side) error {
	err := second.refusal(ctx, second.Trace().Schedule(), token)
	var stale *explore.StaleError
	if !errors.As(err, &stale) {
		return err
	}
	c.Why = append(c.Why, impossibleUnder(c.Locks[1], stale.Why, second.in))
	return nil
}
