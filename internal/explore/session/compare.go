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

// Comparison is the course of one schedule under two locks.
type Comparison struct {
	Locks           [2]string               `json:"locks"`   // names of the locks
	Rows            []Row                   `json:"rows"`    // corresponding steps, in order
	FirstDifference int                     `json:"differs"` // 1-based row of the first difference; 0: none
	Why             []string                `json:"why"`     // reasons for the first difference, sentences without a full stop
	Shown           [2][]explore.AnomalyHit `json:"shown"`   // anomalies that each lock shows; Step is the 1-based row

	Schedules [2]string      `json:"schedules"` // schedule that each lock ran
	Traces    [2]trace.Trace `json:"-"`         // traces of the two schedules
}

// Row contains the corresponding steps of the two locks. A step is nil if its lock has no such step: some locks begin an attempt with a
// step that reads the clock, others with their command. The second step is also nil if it cannot happen under the second lock.
type Row [2]*trace.Step

// Compare runs a schedule of the first lock and, as far as possible, the corresponding schedule of the second lock: the same kinds of steps
// by the same actors, whatever the names of their commands. Two steps differ if their meanings or the states after them differ. Each lock
// runs its schedule once. Compare fails with explore.ErrStale if the first lock cannot run the schedule, and with the error of ctx if ctx
// ends.
func Compare(ctx context.Context, locks [2]strategy.Strategy, scenario explore.Scenario, schedule string) (Comparison, error) {
	c := Comparison{Locks: [2]string{locks[0].Name, locks[1].Name}, Rows: []Row{}, Why: []string{}}
	c.Shown = [2][]explore.AnomalyHit{{}, {}}
	first, err := record(ctx, locks[0], scenario, schedule)
	if err != nil {
		return c, err
	}
	h, err := newHarness(ctx, locks[1], scenario)
	if err != nil {
		return c, err
	}
	defer h.Close()
	second := &secondLock{run: h.Begin(), lock: locks[1], scenario: scenario}
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

// record runs a schedule of a lock. If a step cannot happen, the error is that of Session.Take.
func record(ctx context.Context, s strategy.Strategy, scenario explore.Scenario, schedule string) (recording explore.Recording, err error) {
	h, err := newHarness(ctx, s, scenario)
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
		if why := refusal(ctx, s, scenario, recording.Schedule(), token); why != nil {
			err = explore.WrapStepError(scenario, recording.Length()+1, token, why)
		}
	}
	return recording, err
}

// refusal returns an error with the reason why a token cannot follow a schedule.
func refusal(ctx context.Context, s strategy.Strategy, scenario explore.Scenario, after, token string) error {
	session, err := NewWithContext(ctx, s, scenario, after)
	if err != nil {
		return err
	}
	defer session.Close()
	return session.refusalOf(token)
}

// secondLock runs the second lock along a schedule of the first.
type secondLock struct {
	run      *explore.Run      // run of the second lock so far
	isOver   bool              // no further step is possible
	lock     strategy.Strategy // strategy of the second lock
	scenario explore.Scenario  // scenario of both locks
}

// lastStep returns the last step taken.
func (s *secondLock) lastStep() *trace.Step {
	steps := s.run.Recording().Steps
	return &steps[len(steps)-1]
}

// take takes the step that corresponds to a token of the first lock: the same kind of step by the same actor, whatever the name of its
// command. If that step cannot happen, take changes nothing and reports false.
func (s *secondLock) take(token string) (ok bool, err error) {
	want, err := engine.ParseToken(token)
	if err != nil || s.isOver {
		return false, err
	}
	t, ok := s.run.Find(want)
	if !ok {
		return false, s.run.Engine.Err()
	}
	if t.Kind != engine.Moves { // A fault without an effect is not a choice either.
		if _, hasEffect, err := s.run.Preview(t); err != nil || !hasEffect {
			return false, err
		}
	}
	s.run.Apply(t)
	s.isOver = s.run.RecordAnomalies()
	return true, s.run.Engine.Err()
}

// isNextBegin reports whether the next step of a task begins an attempt without a command.
func (s *secondLock) isNextBegin(who string) (bool, error) {
	t, ok := s.run.Find(engine.ParsedToken{Kind: engine.Moves, Who: who})
	if s.isOver || !ok || s.run.Engine.Subject(t).Pending() != nil || s.run.Engine.Subject(t).IsSubscribing() {
		return false, nil
	}
	preview, hasEffect, err := s.run.Preview(t)
	return hasEffect && preview.Steps[0].Kind == trace.KindBegins, err
}

// recordResult stores the trace and the anomalies of a lock, given its complete recording.
func (c *Comparison) recordResult(lock int, result explore.Recording) {
	c.Traces[lock], c.Schedules[lock], c.Shown[lock] = result.Trace, result.Schedule(), result.Hits
	var rows []int // row of each of its steps
	for i, row := range c.Rows {
		if row[lock] != nil {
			rows = append(rows, i+1)
		}
	}
	for i, shown := range result.Hits {
		c.Shown[lock][i].Step = rows[shown.Step-1]
	}
}

// alignStep takes the second lock's step that corresponds to a step of the first lock, and appends both as a row.
func (c *Comparison) alignStep(ctx context.Context, first *trace.Step, second *secondLock) error {
	actor, _, _ := strings.Cut(first.Token, ":")
	parsed, err := engine.ParseToken(first.Token)
	if err != nil {
		return err
	}
	secondBegins := false // The second lock's next step begins an attempt. For a move this shows only after take.
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

// explainRefusal records why the second lock cannot take a step of the first.
func (c *Comparison) explainRefusal(ctx context.Context, token string, second *secondLock) error {
	err := refusal(ctx, second.lock, second.scenario, second.run.Recording().Schedule(), token)
	var stale *explore.StaleError
	if !errors.As(err, &stale) {
		return err
	}
	c.Why = append(c.Why, impossibleText(c.Locks[1], stale.Reason, second.scenario))
	return nil
}
