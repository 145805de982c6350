package explore

import (
	"slices"

	"lockstep/internal/explore/engine"
	"lockstep/internal/trace"
)

// Walk is a run that goes on step by step, and is recorded: a schedule of n steps takes n of them.
type Walk struct {
	*Run

	Shown []Shown // as Follow gives it
	Over  bool    // nothing can follow

	harness *Harness
	scout   *Harness // that sees what a step would be; nil: nobody has asked
}

// Walk begins one.
func (h *Harness) Walk() *Walk {
	w := &Walk{harness: h}
	w.begin()
	return w
}

func (w *Walk) begin() {
	w.Run, w.Shown, w.Over = w.harness.Begin(), nil, false
	w.Record()
}

// Close ends it.
func (w *Walk) Close() {
	w.Engine.Close()
	if w.scout != nil {
		w.scout.Close()
	}
}

// Trace returns the steps so far.
func (w *Walk) Trace() trace.Trace { return w.record.Trace() }

// Last returns the last step.
func (w *Walk) Last() *trace.Step {
	step := w.record.Last()
	return &step
}

// Take takes the step with this token. It fails as Follow does, but for the number of the step, and can then not go on.
func (w *Walk) Take(token string) error {
	if w.Over {
		return w.errImpossible(nil)
	}
	if err := w.take(token); err != nil {
		return err
	}
	return w.check()
}

// TakeAs takes the step that resembles another lock's: the same happens to the same one, whatever its command is called. It reports false
// if that cannot happen; then nothing has happened.
func (w *Walk) TakeAs(token string) (took bool, err error) {
	want, err := engine.ParseToken(token)
	if err != nil || w.Over {
		return false, err
	}
	t, can := w.find(want)
	switch {
	case !can:
		return false, w.Engine.Err()
	case w.Apply(t):
		return true, w.check()
	case w.Engine.Err() != nil:
		return false, w.Engine.Err()
	default:
		return false, w.again(w.Engine.Taken()[:len(w.Engine.Taken())-1])
	}
}

// check looks at what the last step has shown.
func (w *Walk) check() error {
	found, over := w.Check()
	w.Shown, w.Over = w.show(w.Shown, found, w.harness.strategy, len(w.Engine.Taken())), over
	return w.Engine.Err()
}

// again begins anew, and goes along a path: a fault that makes no difference has left its traces.
func (w *Walk) again(path []engine.Transition) error {
	path = slices.Clone(path)
	w.Engine.Close()
	w.begin()
	for _, t := range path {
		w.Engine.Transitions()
		w.Apply(t)
		if err := w.check(); err != nil {
			return err
		}
	}
	return nil
}

// Begins reports whether what a task does next is to begin an attempt, without a command.
func (w *Walk) Begins(who string) (bool, error) {
	t, can := w.find(engine.Wanted{Kind: engine.Moves, Who: who})
	if w.Over || !can || w.Engine.Subject(t).Pending() != nil || w.Engine.Subject(t).Subscribes() {
		return false, nil
	}
	if w.scout == nil {
		var err error
		if w.scout, err = NewHarness(w.harness.strategy, w.harness.scenario, w.harness.options, engine.NewSeeds()); err != nil {
			return false, err
		}
	}
	run := w.scout.Begin()
	defer run.Engine.Close()
	for _, before := range w.Engine.Taken() {
		run.Apply(before)
	}
	run.Engine.Transitions()
	record := run.Record()
	took := run.Apply(t)
	return took && record.Last().Kind == trace.KindBegins, run.Engine.Err()
}
