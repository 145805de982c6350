package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/trace"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

const (
	labTimeout       = 60 * time.Second       // that a lab may take, on a slow machine
	progressInterval = 250 * time.Millisecond // the pace in which a run that goes on is told
)

// Play is how a lab is run.
type Play struct {
	Lock       string
	Redis      Kind
	In         language.Language // that it is told in
	OnProgress func(trace.Trace) // is told now and then what has happened so far; nil: nobody is
}

// Run runs the lab on the running service. An error is of the lab itself: where it cannot run at all, or ctx ended.
func (l Lab) Run(ctx context.Context, env Environment, play Play) (Result, error) {
	if err := errors.Join(l.Check(play.Lock, play.In), l.FitsInto(env)); err != nil {
		return Result{}, err
	}
	if slices.Contains(l.Needs, RealRedis) {
		play.Redis = Real
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, labTimeout, errTooLong)
	defer cancel()
	result, err := l.play(limited, env, play)
	if err != nil {
		return Result{}, fmt.Errorf("lab %s: %w", l.Name, err)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	result.Seconds, result.Redis = time.Since(began).Seconds(), string(play.Redis)
	if play.Redis == Real {
		result.Command += " --redis real"
	}
	return result, nil
}

// play runs the scenario on a stage of its own, and says what that has shown. An error is of the stage: that it does not go up, or down.
func (l Lab) play(ctx context.Context, env Environment, p Play) (r Result, err error) {
	row, err := evolution.Find(p.Lock)
	if err != nil {
		return Result{}, err
	}
	s, err := openStage(ctx, l.Shop, env, p.Lock, p.Redis)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = s.close() }() // after a panic, too
	if p.OnProgress != nil {
		s.running.Go(func() { printProgress(s, p, l.Draws) })
	}
	l.Scenario(s)
	r = l.judge(p.Lock, witness.Limits{AllowOverlap: !row.Update.IsExclusive()}.Examine(s.collected.Events()), s.err, p.In)
	r.Answers = answers(s.purchases)
	return r, nil
}

// printProgress tells what has happened so far, until the stage comes down.
func printProgress(s *Stage, p Play, draws int) {
	told, pace := 0, time.NewTicker(progressInterval)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
		case <-s.ctx.Done():
			return
		}
		if events := s.collected.Events(); len(events) > told {
			told = len(events)
			drawn, _ := witness.Examine(events).Trace(p.In).First(draws)
			if len(drawn.Steps) > 0 && len(drawn.Actors) > 0 { // else there is nothing to draw yet
				p.OnProgress(drawn)
			}
		}
	}
}

// judge says what a run has shown.
func (l Lab) judge(lock string, a witness.Account, failed error, in language.Language) Result {
	expected := l.Expects(lock)
	r := Result{
		Lab: l.Name, Lock: lock, Observed: verdict.Unknown, Expected: expected.Observed, Why: expected.Why.In(in),
		Trace: a.Trace(in), Findings: a.Findings, Command: l.command(lock), Explore: l.InExplorer(lock), in: in, promise: l.Claim, draws: l.Draws,
	}
	switch culprit, found := l.culprit(a); {
	case failed != nil:
		r.Reason = explain(failed, in)
	case occurred(witness.KindGap)(a.Events):
		r.Reason = forgotten(in)
	case len(a.Events) == 0 || !l.Hit(a.Events):
		r.Reason = l.didNotHappen(in)
	case found:
		r.Observed, r.Sentence = verdict.Broken, culprit.Sentence(in)
		r.Trace.Verdict = r.Sentence
	case l.Proof != nil && !l.Proof(a.Events):
		r.Reason = provesNothing(a.Events, in)
	default:
		r.Observed = verdict.Holds
	}
	return r
}

// culprit gives the finding that is the anomaly.
func (l Lab) culprit(a witness.Account) (witness.Finding, bool) {
	for _, f := range a.FindingsOf(l.Signs...) {
		if l.Blames == nil || l.Blames(f) {
			return f, true
		}
	}
	return witness.Finding{}, false
}
