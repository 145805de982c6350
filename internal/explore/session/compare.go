package session

import (
	"context"
	"errors"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/strategy"
	"lockstep/internal/trace"
)

// Comparison is one schedule under two locks.
type Comparison struct {
	Locks   [2]string               `json:"locks"`
	Rows    []Row                   `json:"rows"`
	Differs int                     `json:"differs"` // the first row that does, counted from 1; 0: none
	Why     []string                `json:"why"`     // it does, a sentence each
	Shown   [2][]explore.AnomalyHit `json:"shown"`   // by each lock; the step is the row

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
	c.Shown = [2][]explore.AnomalyHit{{}, {}}
	first, err := follow(ctx, locks[0], in, schedule)
	if err != nil {
		return c, err
	}
	h, err := begin(ctx, locks[1], in)
	if err != nil {
		return c, err
	}
	defer h.Close()
	second := &other{run: h.Begin(), lock: locks[1], in: in}
	defer func() { second.run.Close() }()
	second.run.Record()
	for i := range first.Steps {
		if err := c.follow(ctx, &first.Steps[i], second); err != nil {
			return c, err
		}
	}
	c.ended(0, first)
	c.ended(1, second.run.Recording())
	return c, nil
}

// follow runs a schedule of a lock. A step that does not fit is refused as a session refuses it.
func follow(ctx context.Context, s strategy.Strategy, in explore.Scenario, schedule string) (done explore.Recording, err error) {
	h, err := begin(ctx, s, in)
	if err != nil {
		return done, err
	}
	defer h.Close()
	run := h.Begin()
	defer run.Close()
	run.Record()
	_, err = run.Follow(schedule)
	done = run.Recording()
	if errors.Is(err, explore.ErrStale) {
		token := strings.Fields(schedule)[done.Length()]
		if why := refusal(ctx, s, in, done.Schedule(), token); why != nil {
			err = explore.WrapStepError(in, done.Length()+1, token, why)
		}
	}
	return done, err
}

// refusal says why a token cannot follow a schedule.
func refusal(ctx context.Context, s strategy.Strategy, in explore.Scenario, after, token string) error {
	session, err := NewWithContext(ctx, s, in, after)
	if err != nil {
		return err
	}
	defer session.Close()
	return session.refuse(token)
}

// other is the second lock on its way along a schedule of the first.
type other struct {
	run  *explore.Run
	over bool // nothing can follow
	lock strategy.Strategy
	in   explore.Scenario
}

// last returns the last step.
func (o *other) last() *trace.Step {
	steps := o.run.Recording().Steps
	return &steps[len(steps)-1]
}

// take takes the step that resembles another lock's: the same happens to the same one, whatever its command is called. It reports false if
// that cannot happen; then nothing has happened.
func (o *other) take(token string) (took bool, err error) {
	want, err := engine.ParseToken(token)
	if err != nil || o.over {
		return false, err
	}
	t, can := o.run.Find(want)
	if !can {
		return false, o.run.Engine.Err()
	}
	if t.Kind != engine.Moves { // a fault may turn out to make no difference
		if _, own, err := o.run.Preview(t); err != nil || !own {
			return false, err
		}
	}
	o.run.Apply(t)
	o.over = o.run.RecordAnomalies()
	return true, o.run.Engine.Err()
}

// begins reports whether what a task does next is to begin an attempt, without a command.
func (o *other) begins(who string) (bool, error) {
	t, can := o.run.Find(engine.ParsedToken{Kind: engine.Moves, Who: who})
	if o.over || !can || o.run.Engine.Subject(t).Pending() != nil || o.run.Engine.Subject(t).IsSubscribing() {
		return false, nil
	}
	would, own, err := o.run.Preview(t)
	return own && would.Steps[0].Kind == trace.KindBegins, err
}

// ended takes down what a lock did, and has shown.
func (c *Comparison) ended(lock int, done explore.Recording) {
	c.Traces[lock], c.Schedules[lock], c.Shown[lock] = done.Trace, done.Schedule(), done.Hits
	var rows []int // of its steps
	for i, row := range c.Rows {
		if row[lock] != nil {
			rows = append(rows, i+1)
		}
	}
	for i, shown := range done.Hits {
		c.Shown[lock][i].Step = rows[shown.Step-1]
	}
}

// follow lets the second lock do what the first one did.
func (c *Comparison) follow(ctx context.Context, first *trace.Step, second *other) error {
	who, _, _ := strings.Cut(first.Token, ":")
	does, err := engine.ParseToken(first.Token)
	if err != nil {
		return err
	}
	begins := false // the second does; of a move, that is seen once it is made
	if first.Kind == trace.KindBegins || does.Kind != engine.Moves {
		if begins, err = second.begins(who); err != nil {
			return err
		}
	}
	switch {
	case first.Kind == trace.KindBegins && !begins:
		c.Rows = append(c.Rows, Row{first, nil})
		return nil
	case first.Kind != trace.KindBegins && begins:
		if _, err := second.take(who + ":" + trace.KindBegins); err != nil {
			return err
		}
		c.Rows = append(c.Rows, Row{nil, second.last()})
	}
	took, err := second.take(first.Token)
	if took && err == nil && first.Kind != trace.KindBegins && second.last().Kind == trace.KindBegins {
		c.Rows = append(c.Rows, Row{nil, second.last()})
		took, err = second.take(first.Token)
	}
	if err != nil {
		return err
	}
	var same *trace.Step
	if took {
		same = second.last()
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
func (c *Comparison) refuse(ctx context.Context, token string, second *other) error {
	err := refusal(ctx, second.lock, second.in, second.run.Recording().Schedule(), token)
	var stale *explore.StaleError
	if !errors.As(err, &stale) {
		return err
	}
	c.Why = append(c.Why, impossibleUnder(c.Locks[1], stale.Reason, second.in))
	return nil
}
