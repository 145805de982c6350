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
	Locks           [2]string               `json:"locks"`
	Rows            []Row                   `json:"rows"`
	FirstDifference int                     `json:"differs"` // the first row that does, counted from 1; 0: none
	Why             []string                `json:"why"`     // it does, a sentence each
	Shown           [2][]explore.AnomalyHit `json:"shown"`   // by each lock; the step is the row

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
	first, err := record(ctx, locks[0], in, schedule)
	if err != nil {
		return c, err
	}
	h, err := newHarness(ctx, locks[1], in)
	if err != nil {
		return c, err
	}
	defer h.Close()
	second := &secondLock{run: h.Begin(), lock: locks[1], scenario: in}
	defer func() { second.run.Close() }()
	second.run.Record()
	for i := range first.Steps {
		if err := c.alignStep(ctx, &first.Steps[i], second); err != nil {
			return c, err
		}
	}
	c.recordResult(0, first)
	c.recordResult(1, second.run.Recording())
	return c, nil
}

// follow runs a schedule of a lock. A step that does not fit is refused as a session refuses it.
func record(ctx context.Context, s strategy.Strategy, in explore.Scenario, schedule string) (recording explore.Recording, err error) {
	h, err := newHarness(ctx, s, in)
	if err != nil {
		return recording, err
	}
	defer h.Close()
	run := h.Begin()
	defer run.Close()
	run.Record()
	_, err = run.Follow(schedule)
	recording = run.Recording()
	if errors.Is(err, explore.ErrStale) {
		token := strings.Fields(schedule)[recording.Length()]
		if why := refusal(ctx, s, in, recording.Schedule(), token); why != nil {
			err = explore.WrapStepError(in, recording.Length()+1, token, why)
		}
	}
	return recording, err
}

// refusal says why a token cannot follow a schedule.
func refusal(ctx context.Context, s strategy.Strategy, in explore.Scenario, after, token string) error {
	session, err := NewWithContext(ctx, s, in, after)
	if err != nil {
		return err
	}
	defer session.Close()
	return session.refusalOf(token)
}

// other is the second lock on its way along a schedule of the first.
type secondLock struct {
	run      *explore.Run
	isOver   bool // nothing can follow
	lock     strategy.Strategy
	scenario explore.Scenario
}

// last returns the last step.
func (s *secondLock) lastStep() *trace.Step {
	steps := s.run.Recording().Steps
	return &steps[len(steps)-1]
}

// take takes the step that resembles another lock's: the same happens to the same one, whatever its command is called. It reports false if
// that cannot happen; then nothing has happened.
func (s *secondLock) take(token string) (ok bool, err error) {
	want, err := engine.ParseToken(token)
	if err != nil || s.isOver {
		return false, err
	}
	t, ok := s.run.Find(want)
	if !ok {
		return false, s.run.Engine.Err()
	}
	if t.Kind != engine.Moves { // a fault may turn out to make no difference
		if _, hasEffect, err := s.run.Preview(t); err != nil || !hasEffect {
			return false, err
		}
	}
	s.run.Apply(t)
	s.isOver = s.run.RecordAnomalies()
	return true, s.run.Engine.Err()
}

// begins reports whether what a task does next is to begin an attempt, without a command.
func (s *secondLock) isNextBegin(who string) (bool, error) {
	t, ok := s.run.Find(engine.ParsedToken{Kind: engine.Moves, Who: who})
	if s.isOver || !ok || s.run.Engine.Subject(t).Pending() != nil || s.run.Engine.Subject(t).IsSubscribing() {
		return false, nil
	}
	preview, hasEffect, err := s.run.Preview(t)
	return hasEffect && preview.Steps[0].Kind == trace.KindBegins, err
}

// ended takes down what a lock did, and has shown.
func (c *Comparison) recordResult(lock int, result explore.Recording) {
	c.Traces[lock], c.Schedules[lock], c.Shown[lock] = result.Trace, result.Schedule(), result.Hits
	var rows []int // of its steps
	for i, row := range c.Rows {
		if row[lock] != nil {
			rows = append(rows, i+1)
		}
	}
	for i, shown := range result.Hits {
		c.Shown[lock][i].Step = rows[shown.Step-1]
	}
}

// follow lets the second lock do what the first one did.
func (c *Comparison) alignStep(ctx context.Context, first *trace.Step, second *secondLock) error {
	actor, _, _ := strings.Cut(first.Token, ":")
	parsed, err := engine.ParseToken(first.Token)
	if err != nil {
		return err
	}
	secondBegins := false // the second does; of a move, that is seen once it is made
	if first.Kind == trace.KindBegins || parsed.Kind != engine.Moves {
		if secondBegins, err = second.isNextBegin(actor); err != nil {
			return err
		}
	}
	switch {
	case first.Kind == trace.KindBegins && !secondBegins:
		c.Rows = append(c.Rows, Row{first, nil})
		return nil
	case first.Kind != trace.KindBegins && secondBegins:
		if _, err := second.take(actor + ":" + trace.KindBegins); err != nil {
			return err
		}
		c.Rows = append(c.Rows, Row{nil, second.lastStep()})
	}
	ok, err := second.take(first.Token)
	if ok && err == nil && first.Kind != trace.KindBegins && second.lastStep().Kind == trace.KindBegins {
		c.Rows = append(c.Rows, Row{nil, second.lastStep()})
		ok, err = second.take(first.Token)
	}
	if err != nil {
		return err
	}
	var secondStep *trace.Step
	if ok {
		secondStep = second.lastStep()
	}
	c.Rows = append(c.Rows, Row{first, secondStep})
	if c.FirstDifference > 0 {
		return nil
	}
	if ok {
		c.Why = append(c.Why, differenceTexts(c.Locks, [2]*trace.Step{first, secondStep}, second)...)
	} else if err := c.explainRefusal(ctx, first.Token, second); err != nil {
		return err
	}
	if len(c.Why) > 0 {
		c.FirstDifference = len(c.Rows)
	}
	return nil
}

// refuse says why the second lock cannot do what the first one did.
func (c *Comparison) explainRefusal(ctx context.Context, token string, second *secondLock) error {
	err := refusal(ctx, second.lock, second.scenario, second.run.Recording().Schedule(), token)
	var stale *explore.StaleError
	if !errors.As(err, &stale) {
		return err
	}
	c.Why = append(c.Why, impossibleText(c.Locks[1], stale.Reason, second.scenario))
	return nil
}
