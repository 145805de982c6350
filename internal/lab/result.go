package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/trace"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

// Result is the outcome of a run of a lab with one lock.
type Result struct {
	Lab      string            `json:"lab"`
	Lock     string            `json:"lock"`
	Observed verdict.Verdict   `json:"observed"`
	Expected verdict.Verdict   `json:"expected"`
	Why      string            `json:"why"`              // reason for the expectation
	Sentence string            `json:"says,omitempty"`   // sentence that names culprit and victim
	Reason   string            `json:"reason,omitempty"` // reason why the verdict is unknown
	Seconds  float64           `json:"seconds"`
	Answers  []Answer          `json:"answers"`
	Trace    trace.Trace       `json:"trace"`
	Findings []witness.Finding `json:"findings"`
	Command  string            `json:"command"` // command that repeats the run
	Explore  string            `json:"explore,omitempty"`
	Redis    string            `json:"redis"`

	in      language.Language // language of the texts
	promise language.Text     // claim of the lab
	draws   int               // number of sales to draw; 0: all

	tolerates func(witness.Finding) bool // reports whether a finding is of the lab's anomaly, but does not count
}

// Answer is the answer that a buyer got.
type Answer struct {
	Sale    string  `json:"sale"`
	Status  int     `json:"status"` // HTTP status; 0: no answer
	Code    string  `json:"code,omitempty"`
	Order   string  `json:"order,omitempty"` // id of the order
	Seconds float64 `json:"seconds"`
}

// AsExpected reports whether the observed verdict is the expected one.
func (r Result) AsExpected() bool { return r.Observed == r.Expected }

// ExitCode returns 0 if all results are as expected, 1 if one is not, and 2 if one is unknown and none is unexpected.
func ExitCode(results []Result) int {
	broken, unknown := false, false
	for _, r := range results {
		unknown = unknown || r.Observed == verdict.Unknown
		broken = broken || r.Observed != verdict.Unknown && !r.AsExpected()
	}
	return verdict.Search{Found: broken, Complete: !unknown}.Verdict().ExitCode()
}

// Story is a result in sentences, for the page and the terminal.
type Story struct {
	Lock       string          `json:"lock"`
	Observed   verdict.Verdict `json:"observed"`
	AsExpected bool            `json:"as_expected"`
	Head       string          `json:"head"`
	About      string          `json:"about"`           // reason for the expectation, and the expected verdict if it differs
	Still      string          `json:"still,omitempty"` // anomalies beside the promise that was kept
	Drawn      trace.Trace     `json:"drawn"`
	Left       string          `json:"left,omitempty"`   // sales that the drawing leaves out
	Reason     string          `json:"reason,omitempty"` // reason why the verdict is unknown
	Says       []string        `json:"says"`
	Command    string          `json:"command"` // command that repeats the run, without the program's name
	Explore    string          `json:"explore,omitempty"`
}

// Story returns the result in sentences.
func (r Result) Story() Story {
	s := Story{Lock: r.Lock, Observed: r.Observed, AsExpected: r.AsExpected(), Command: r.Command, Explore: r.Explore}
	drawn, left := r.Trace.First(r.draws)
	s.Head, s.About, s.Still, s.Drawn, s.Left = r.head(), r.about(), r.still(), drawn, notDrawn(left, r.in)
	if r.Reason != "" {
		s.Reason = r.in.Say("It cannot be said: %s.", "无法判断：%s。", r.Reason)
	}
	for _, f := range r.Findings {
		if sentence := f.Sentence(r.in); !slices.Contains(s.Says, sentence) {
			s.Says = append(s.Says, sentence)
		}
	}
	for _, like := range r.answerGroups() {
		s.Says = append(s.Says, summary(like, r.in))
	}
	return s
}

// Text formats a result for a terminal. Its commands begin with typed, the program's name, and end with flag, the language flag or "".
func (r Result) Text(typed, flag string) string {
	b, s := &strings.Builder{}, r.Story()
	fmt.Fprintf(b, "\n%s\n%s\n", s.Head, s.About)
	if s.Still != "" {
		fmt.Fprintln(b, s.Still)
	}
	fmt.Fprintf(b, "\n%s\n", s.Drawn.Sequence())
	if s.Left != "" {
		fmt.Fprintf(b, "%s%s\n\n", s.Left, r.in.Say(" --json has all.", "全部步骤用 --json 查看。"))
	}
	if s.Reason != "" {
		fmt.Fprintln(b, s.Reason)
	}
	for _, sentence := range s.Says {
		fmt.Fprintf(b, "  %s\n", sentence)
	}
	fmt.Fprint(b, r.in.Say("Again: %s %s\n", "再来一次：%s %s\n", typed, s.Command+flag))
	if s.Explore != "" {
		fmt.Fprint(b, r.in.Say("In every order: %s %s\n", "探索所有命令顺序：%s %s\n", typed, s.Explore+flag))
	}
	return b.String()
}

// answerGroups returns groups of answers that differ only in their duration, shortest first.
func (r Result) answerGroups() (groups [][]Answer) {
	for _, a := range r.Answers {
		i := slices.IndexFunc(groups, func(g []Answer) bool { return g[0].Sale == a.Sale && g[0].outcome(r.in) == a.outcome(r.in) })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], a)
	}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b Answer) int { return cmp.Compare(a.Seconds, b.Seconds) })
	}
	return groups
}
