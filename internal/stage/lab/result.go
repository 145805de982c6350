package lab

import (
	"slices"
	"strconv"
	"time"

	"lockstep/internal/explore/trace"
	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// Result is what a run of a lab has shown.
type Result struct {
	Lab      string            `json:"lab"`
	Lock     string            `json:"lock"`
	Observed Observed          `json:"observed"`
	Expected Observed          `json:"expected"`
	Why      string            `json:"why"`              // of the expectation
	Sentence string            `json:"says,omitempty"`   // names culprit and victim
	Reason   string            `json:"reason,omitempty"` // why it is unknown
	Seconds  float64           `json:"seconds"`
	Answers  []Answer          `json:"answers"`
	Trace    trace.Trace       `json:"trace"`
	Findings []witness.Finding `json:"findings"`
	Command  string            `json:"command"` // that shows it again
	Explore  string            `json:"explore,omitempty"`
	Redis    string            `json:"redis"`
}

// Answer is what a buyer was told.
type Answer struct {
	Sale    string  `json:"sale"`
	Status  int     `json:"status"` // 0: there was none
	Code    string  `json:"code,omitempty"`
	Order   string  `json:"order,omitempty"` // its id
	Seconds float64 `json:"seconds"`
}

// AsExpected reports whether what was observed is what was expected.
func (r Result) AsExpected() bool { return r.Observed == r.Expected }

// Sentences are what the witness says, each once.
func (r Result) Sentences(in language.Language) (all []string) {
	for _, f := range r.Findings {
		if text := f.Says(in); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// Says writes an answer for people.
func (a Answer) Says(in language.Language) string {
	switch {
	case a.Status == 0 && a.Code == noAnswer:
		return language.Both(noAnswer, "没有响应").In(in)
	case a.Status == 0:
		return a.Code
	case a.Code == "":
		return strconv.Itoa(a.Status)
	default:
		return strconv.Itoa(a.Status) + " " + a.Code
	}
}

// ExitCode is 0 if all is as expected, 1 if something is not, and 2 if of something it cannot be said.
func ExitCode(results []Result) int {
	code := 0
	for _, r := range results {
		switch {
		case r.Observed == Unknown:
			code = max(code, 2)
		case !r.AsExpected():
			return 1
		}
	}
	return code
}

// judge says what a run has shown.
func (l Lab) judge(lock string, a witness.Account, answers []Answer, took time.Duration, failed error) Result {
	expected := l.Expects(lock)
	r := Result{
		Lab: l.Name, Lock: lock, Expected: expected.Observed, Why: expected.Why, Seconds: took.Seconds(),
		Answers: answers, Trace: a.Trace(l.language), Findings: a.Findings, Command: "lab " + l.Name + " --lock " + lock,
		Explore: l.InExplorer(lock),
	}
	switch culprit, found := l.culprit(a); {
	case failed != nil:
		r.Observed, r.Reason = Unknown, failed.Error()
	case happened(witness.KindGap)(a):
		r.Observed, r.Reason = Unknown, language.Both("the witness has forgotten what happened first", "见证者已经不记得最初发生的事").In(l.language)
	case len(a.Events) == 0 || !l.Hit(a):
		r.Observed, r.Reason = Unknown, language.Both("this did not happen: ", "没有发生：").In(l.language)+l.Fault
	case found:
		r.Observed, r.Sentence = Broken, culprit.Says(l.language)
		r.Trace.Verdict = r.Sentence
	case l.Proof != nil && !l.Proof(a):
		nothing := language.Both("nothing went wrong, but nothing shows that the lock holds", "没有出错，但也没有什么能证明这把锁守住了")
		r.Observed, r.Reason = Unknown, nothing.In(l.language)+failures(a, l.language)
	default:
		r.Observed = Holds
	}
	return r
}

// failures says which sales failed, and why.
func failures(a witness.Account, in language.Language) (all string) {
	for _, e := range a.Events {
		if e.Kind == witness.KindEnds && e.Error != "" {
			all += language.Both("; "+e.Sale+" failed: ", "；"+e.Sale+" 失败：").In(in) + e.Error
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
