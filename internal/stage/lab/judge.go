package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/watch/witness"
)

// judge says what a run has shown.
func (l Lab) judge(lock string, a witness.Account, failed error, in language.Language) Result {
	expected := l.Expects(lock)
	r := Result{
		Lab: l.Name, Lock: lock, Expected: expected.Observed, Why: expected.Why.In(in),
		Trace: a.Trace(in), Findings: a.Findings, Command: "lab " + l.Name + " --lock " + lock, Explore: l.InExplorer(lock), in: in,
		draws: l.Draws,
	}
	switch culprit, found := l.culprit(a); {
	case failed != nil:
		r.Observed, r.Reason = verdict.Unknown, failed.Error()
	case occurred(witness.KindGap)(a.Events):
		r.Observed, r.Reason = verdict.Unknown, r.in.Say("the witness has forgotten what happened first", "见证里已经没有最初发生的事")
	case len(a.Events) == 0 || !l.Hit(a.Events):
		r.Observed, r.Reason = verdict.Unknown, r.in.Say("this did not happen: ", "没有发生：")+l.Fault.In(in)
	case found:
		r.Observed, r.Sentence = verdict.Broken, culprit.Sentence(in)
		r.Trace.Verdict = r.Sentence
	case l.Proof != nil && !l.Proof(a.Events):
		r.Observed = verdict.Unknown
		r.Reason = r.in.Say("nothing went wrong, but nothing shows that the lock holds", "没有出错，但也没有什么能证明这把锁守住了") + r.failures(a)
	default:
		r.Observed = verdict.Holds
	}
	return r
}

// failures says which sales failed, and why.
func (r Result) failures(a witness.Account) (all string) {
	for _, e := range a.Events {
		if e.Kind == witness.KindEnds && e.Error != "" {
			all += r.in.Say("; %s failed: %s", "；%s 失败：%s", e.Sale, e.Error)
		}
	}
	return all
}

// culprit gives the finding that is the anomaly.
func (l Lab) culprit(a witness.Account) (witness.Finding, bool) {
	for _, f := range a.Of(l.Signs...) {
		if l.Blames == nil || l.Blames(f) {
			return f, true
		}
	}
	return witness.Finding{}, false
}

// What a finding must be to count.

const (
	noticed = 500 * time.Millisecond // how late a sale may hear that its lock is lost: a busy machine runs its timers late
	busy    = 2 * time.Second        // that a busy machine may take longer
)

// lastsFor blames what went on for longer.
func lastsFor(d time.Duration) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return time.Duration(f.For) > d }
}

// idleFor blames a lock that nobody had for longer, and whatever else was found.
func idleFor(d time.Duration) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return f.Kind != witness.Idle || time.Duration(f.For) > d }
}
