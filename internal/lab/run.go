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
	labTimeout       = 60 * time.Second       // longest duration of a run of a lab, with a reserve for slow machines
	progressInterval = 250 * time.Millisecond // shortest interval between two progress reports of a run
)

// RunOptions holds the options of one run of a lab.
type RunOptions struct {
	Lock       string            // name of the lock
	Redis      Kind              // kind of Redis, unless the lab needs a real one
	In         language.Language // language of the result's texts
	OnProgress func(trace.Trace) // called with a drawing of the events so far, at most every progressInterval; nil: no reports
}

// Run runs the lab on the running service. It returns an error only if the lab could not run, or ctx ended.
func (l Lab) Run(ctx context.Context, env Environment, options RunOptions) (Result, error) {
	if err := errors.Join(l.Check(options.Lock, options.In), l.CheckNeeds(env)); err != nil {
		return Result{}, err
	}
	if slices.Contains(l.Needs, RealRedis) {
		options.Redis = Real
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, labTimeout, errTooLong)
	defer cancel()
	result, err := l.play(limited, env, options)
	if err != nil {
		return Result{}, fmt.Errorf("lab %s: %w", l.Name, err)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	result.Seconds, result.Redis = time.Since(began).Seconds(), string(options.Redis)
	if options.Redis == Real {
		result.Command += " --redis real"
	}
	return result, nil
}

// play runs the scenario on a new stage, and judges the run. It returns an error if the stage could not be opened or closed.
func (l Lab) play(ctx context.Context, env Environment, options RunOptions) (r Result, err error) {
	row, err := evolution.Find(options.Lock)
	if err != nil {
		return Result{}, err
	}
	s, err := openStage(ctx, l.Shop, env, options.Lock, options.Redis)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = s.close() }() // runs after a panic as well
	if options.OnProgress != nil {
		s.running.Go(func() { reportProgress(s, options, l.Draws) })
	}
	l.Scenario(s)
	account := witness.Limits{AllowOverlap: !row.Update.IsExclusive()}.Examine(s.collector.Events())
	r = l.judge(options.Lock, account, s.err, options.In)
	r.Answers = answers(s.purchases)
	return r, nil
}

// reportProgress calls options.OnProgress with a drawing of the events so far, every progressInterval if there are new events, until the
// stage closes. draws is the number of sales in the drawing; 0: all.
func reportProgress(s *Stage, options RunOptions, draws int) {
	reported, ticker := 0, time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			return
		}
		if events := s.collector.Events(); len(events) > reported {
			reported = len(events)
			drawn, _ := witness.Examine(events).Trace(options.In).FirstActors(draws)
			if len(drawn.Steps) > 0 && len(drawn.Actors) > 0 { // Otherwise there is nothing to draw yet.
				options.OnProgress(drawn)
			}
		}
	}
}

// judge computes the result of a run from the witness's account. scenarioErr is the error that ended the scenario; nil: none.
func (l Lab) judge(lock string, a witness.Account, scenarioErr error, in language.Language) Result {
	expected := l.Expects(lock)
	r := Result{
		Lab: l.Name, Lock: lock, Observed: verdict.Unknown, Expected: expected.Verdict, Why: expected.Why.In(in),
		Trace: a.Trace(in), Findings: a.Findings, Command: l.command(lock), Explore: l.InExplorer(lock), in: in, claim: l.Claim, draws: l.Draws,
		tolerates: l.tolerates,
	}
	switch culprit, found := l.culprit(a); {
	case scenarioErr != nil:
		r.Reason = errorText(scenarioErr, in)
	case occurred(witness.KindGap)(a.Events):
		r.Reason = forgottenReason(in)
	case len(a.Events) == 0 || !l.Hit(a.Events):
		r.Reason = l.noFaultReason(in)
	case found:
		r.Observed, r.Sentence = verdict.Broken, culprit.Sentence(in)
		r.Trace.Verdict = r.Sentence
	case l.Proof != nil && !l.Proof(a.Events):
		r.Reason = noProofReason(a.Events, in)
	default:
		r.Observed = verdict.Holds
	}
	return r
}

// tolerates reports whether a finding is of the lab's anomaly, but does not count.
func (l Lab) tolerates(f witness.Finding) bool {
	return slices.Contains(l.Signs, f.Kind) && l.Blames != nil && !l.Blames(f)
}

// culprit returns the first finding that counts as the lab's anomaly, and whether there is one.
func (l Lab) culprit(a witness.Account) (witness.Finding, bool) {
	for _, f := range a.FindingsOf(l.Signs...) {
		if l.Blames == nil || l.Blames(f) {
			return f, true
		}
	}
	return witness.Finding{}, false
}
