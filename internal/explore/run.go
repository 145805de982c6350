package explore

import (
	"slices"
	"strings"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/trace"
)

// Apply lets a transition happen. It reports false when that turned out to be no transition of its own.
func (r *Run) Apply(t engine.Transition) (own bool) {
	r.judge.Reset()
	r.past.Waited = r.past.Waited || t.Kind == engine.TimePasses
	r.past.Resent = r.past.Resent || t.Kind == engine.Resends
	r.past.RolledBack = r.past.RolledBack || t.Kind == engine.RollsBack
	for _, a := range r.Engine.Actors() {
		if a.IsQueued() { // it waits without a command
			r.judge.Queue(a.Index)
		}
	}
	if r.record != nil {
		own = r.record.Apply(t)
	} else {
		own = r.Engine.Apply(t)
	}
	if (futures{r}).waitsInVain() == nil {
		r.idleSince = r.Engine.Now()
	}
	return own
}

// Close ends the run.
func (r *Run) Close() { r.Engine.Close() }

// Check gives the anomalies that the last transition has shown, and whether the schedule is over.
func (r *Run) Check() (found []judge.Finding, over bool) {
	r.undecided = false
	r.judge.Check()
	for _, a := range (futures{r}).outlived() {
		r.judge.Leak(a.Index)
	}
	over = futures{r}.check()
	return r.judge.Found(), over
}

// Record has what follows recorded.
func (r *Run) Record() {
	r.record = &recorder{x: r.Engine, judge: r.judge}
	r.Engine.Recorder = r.record
}

// Holder returns the actor whose lock it is in truth, nil for nobody.
func (r *Run) Holder() *engine.Actor {
	if i := r.judge.Holder(); i >= 0 {
		return r.Engine.Actors()[i]
	}
	return nil
}

// Sold counts the sales that have succeeded.
func (r *Run) Sold() int { return r.sold }

// BelievesInside reports whether an actor believes, and may believe, that it holds the lock.
func (r *Run) BelievesInside(a *engine.Actor) bool { return r.judge.Sale(a.Index).IsInside() }

// Find returns the transition that is meant, if it can happen now.
func (r *Run) Find(want engine.ParsedToken) (t engine.Transition, can bool) {
	possible := r.Engine.Transitions()
	i := slices.IndexFunc(possible, func(t engine.Transition) bool { return r.Engine.Subject(t).Name == want.Who && want.Matches(t.Kind) })
	if i < 0 {
		return t, false
	}
	return possible[i], true
}

// take takes the transition that a token of a schedule names.
func (r *Run) take(token string) error {
	want, err := engine.ParseToken(token)
	if err != nil {
		return err
	}
	t, can := r.Find(want)
	if !can {
		return r.errImpossible(slices.Clone(r.Engine.Transitions()))
	}
	took := r.Apply(t)
	step := r.record.Last()
	if took && step.Token == token {
		return nil
	}
	r.record.DropLast()
	if err := r.Engine.Err(); err != nil && !took {
		return err // that is the reason, and no other
	}
	if step.Token == token {
		return Stale(r.Engine.Scenario, withoutFaultSays(want.Who, r.Engine.Scenario.Language))
	}
	next := strings.TrimPrefix(step.Token, want.Who+":")
	return Stale(r.Engine.Scenario, otherStepSays(want.Who, next, want.Command, r.Engine.Scenario.Language))
}

// errImpossible says what a schedule could go on with instead.
func (r *Run) errImpossible(possible []engine.Transition) error {
	var previews []string
	for _, t := range possible {
		previews = append(previews, r.preview(t))
	}
	return Stale(r.Engine.Scenario, insteadSays(previews, r.Engine.Scenario.Language))
}

// preview writes t as far as it is known before it has happened.
func (r *Run) preview(t engine.Transition) string {
	command := "…"
	if r.Engine.Subject(t).IsSubscribing() {
		command = trace.KindSubscribes
	}
	if pending := r.Engine.Subject(t).Pending(); pending != nil {
		command, _ = Describe(pending)
	}
	return engine.FormatToken(t.Kind, r.Engine.Subject(t).Name, command)
}
