package explore

import (
	"slices"
	"strings"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/trace"
)

// Apply takes a transition. distinct is false if the transition had no effect, which can happen with a fault.
func (r *Run) Apply(t engine.Transition) (distinct bool) {
	r.judge.Reset()
	r.excuses.TimePassed = r.excuses.TimePassed || t.Kind == engine.TimePasses
	r.excuses.CommandResent = r.excuses.CommandResent || t.Kind == engine.Resends
	r.excuses.RolledBack = r.excuses.RolledBack || t.Kind == engine.RollsBack
	for _, a := range r.Engine.Actors() {
		if a.IsQueued() { // the actor waits without having sent a command
			r.judge.RecordQueueing(a.Index)
		}
	}
	if r.recorder != nil {
		distinct = r.recorder.Apply(t)
	} else {
		distinct = r.Engine.Apply(t)
	}
	if (lookahead{r}).idleWaiter() == nil {
		r.idleSince = r.Engine.Now()
	}
	return distinct
}

// Close ends the run and everything that it has started.
func (r *Run) Close() { r.Engine.Close() }

// Check returns the anomalies that the last transition has shown, and reports whether no step can follow.
func (r *Run) Check() (detected []judge.Detection, over bool) {
	r.undecided = false
	r.judge.Check()
	for _, t := range (lookahead{r}).leakedTasks() {
		r.judge.ReportLeak(t.Actor.Index, t.Name, t.IsTimer())
	}
	over = lookahead{r}.check()
	return r.judge.Detected(), over
}

// Record begins to record the steps of the run; Recording returns them.
func (r *Run) Record() {
	r.recorder = &recorder{engine: r.Engine, judge: r.judge}
	r.Engine.Recorder = r.recorder
}

// Holder returns the true holder of the lock, or nil if nobody holds it.
func (r *Run) Holder() *engine.Actor {
	if i := r.judge.Holder(); i >= 0 {
		return r.Engine.Actors()[i]
	}
	return nil
}

// SoldCount returns the number of sales that have succeeded.
func (r *Run) SoldCount() int { return r.soldCount }

// IsInCriticalSection reports whether an actor believes that it holds the lock, and has not been told otherwise.
func (r *Run) IsInCriticalSection(a *engine.Actor) bool {
	return r.judge.Sale(a.Index).IsInCriticalSection()
}

// Find returns the possible transition that a parsed token names. ok is false if it cannot happen now.
func (r *Run) Find(want engine.ParsedToken) (t engine.Transition, ok bool) {
	possible := r.Engine.Transitions()
	i := slices.IndexFunc(possible, func(t engine.Transition) bool { return r.Engine.Subject(t).Name == want.Who && want.Matches(t.Kind) })
	if i < 0 {
		return t, false
	}
	return possible[i], true
}

// take takes the transition that a token of a schedule names. It fails with ErrStale if that transition cannot happen, or turns out to be a
// different step.
func (r *Run) take(token string) error {
	want, err := engine.ParseToken(token)
	if err != nil {
		return err
	}
	t, ok := r.Find(want)
	if !ok {
		return r.errImpossible(slices.Clone(r.Engine.Transitions()))
	}
	distinct := r.Apply(t)
	step := r.recorder.Last()
	if distinct && step.Token == token {
		return nil
	}
	r.recorder.DropLast()
	if err := r.Engine.Err(); err != nil && !distinct {
		return err // this error is the reason why the step failed
	}
	if step.Token == token {
		return NewStaleError(r.Engine.Scenario, withoutFaultText(want.Who, r.Engine.Scenario.Language))
	}
	next := strings.TrimPrefix(step.Token, want.Who+":")
	return NewStaleError(r.Engine.Scenario, otherStepText(want.Who, next, want.Command, r.Engine.Scenario.Language))
}

// errImpossible returns an ErrStale that lists the possible steps.
func (r *Run) errImpossible(possible []engine.Transition) error {
	var tokens []string
	for _, t := range possible {
		tokens = append(tokens, r.tokenBefore(t))
	}
	return NewStaleError(r.Engine.Scenario, alternativesText(tokens, r.Engine.Scenario.Language))
}

// tokenBefore returns the token of a transition that has not happened, with an ellipsis for a command that is unknown until then.
func (r *Run) tokenBefore(t engine.Transition) string {
	command := "…"
	if r.Engine.Subject(t).IsSubscribing() {
		command = trace.KindSubscribes
	}
	if pending := r.Engine.Subject(t).Pending(); pending != nil {
		command, _ = Describe(pending)
	}
	return engine.FormatToken(t.Kind, r.Engine.Subject(t).Name, command)
}
