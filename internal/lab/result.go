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
	Why      string            `json:"why"`               // reason for the expectation
	Sentence string            `json:"says,omitempty"`    // sentence about the anomaly that names the sales; empty: none was found
	Reason   string            `json:"reason,omitempty"`  // reason why the verdict is unknown
	Seconds  float64           `json:"seconds"`           // duration of the run
	Answers  []Answer          `json:"answers"`           // answers to the buyers
	Trace    trace.Trace       `json:"trace"`             // drawing of all sales
	Findings []witness.Finding `json:"findings"`          // all findings of the witness
	Command  string            `json:"command"`           // command that repeats the run
	Explore  string            `json:"explore,omitempty"` // command that shows the anomaly in the explorer; empty: none
	Redis    string            `json:"redis"`             // Kind of the Redis

	in    language.Language // language of the texts
	claim language.Text     // claim of the lab
	draws int               // number of sales to draw; 0: all

	tolerates func(witness.Finding) bool // reports whether a finding is of the lab's anomaly, but does not count
}

// Answer is the answer to a buyer.
type Answer struct {
	Sale    string  `json:"sale"`            // replica that the buyer asked
	Status  int     `json:"status"`          // HTTP status; 0: no answer
	Code    string  `json:"code,omitempty"`  // error code; empty: sold
	Order   string  `json:"order,omitempty"` // id of the order
	Seconds float64 `json:"seconds"`         // time until the answer
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

// Presentation is a result as sentences and a drawing, for the page and the terminal.
type Presentation struct {
	Lock       string          `json:"lock"`
	Observed   verdict.Verdict `json:"observed"`
	AsExpected bool            `json:"as_expected"`
	Headline   string          `json:"head"`              // lock and observed verdict
	Reasoning  string          `json:"about"`             // reason for the expectation, duration, Redis; expected verdict if not observed
	Lapses     string          `json:"still,omitempty"`   // anomalies that the lock does not promise to prevent; empty: none
	Drawing    trace.Trace     `json:"drawn"`             // what the first sales did
	NotDrawn   string          `json:"left,omitempty"`    // sales that the drawing leaves out; empty: none
	Reason     string          `json:"reason,omitempty"`  // reason why the verdict is unknown
	Says       []string        `json:"says"`              // sentences about the findings and the answers
	Command    string          `json:"command"`           // command that repeats the run, without the program's name
	Explore    string          `json:"explore,omitempty"` // command that shows the anomaly in the explorer; empty: none
}

// Present returns the result as sentences and a drawing.
func (r Result) Present() Presentation {
	s := Presentation{Lock: r.Lock, Observed: r.Observed, AsExpected: r.AsExpected(), Command: r.Command, Explore: r.Explore}
	drawing, left := r.Trace.FirstActors(r.draws)
	s.Headline, s.Reasoning, s.Lapses = r.headline(), r.reasoning(), r.lapses()
	s.Drawing, s.NotDrawn = drawing, notDrawnText(left, r.in)
	if r.Reason != "" {
		s.Reason = r.in.Say("No verdict: %s.", "无法判断：%s。", r.Reason)
	}
	for _, f := range r.Findings {
		if sentence := f.Sentence(r.in); !slices.Contains(s.Says, sentence) {
			s.Says = append(s.Says, sentence)
		}
	}
	for _, group := range r.answerGroups() {
		s.Says = append(s.Says, buyersText(group, r.in))
	}
	return s
}

// Text formats a result for a terminal. Its commands begin with typed, the program's name, and end with flag: the language flag or "".
func (r Result) Text(typed, flag string) string {
	b, s := &strings.Builder{}, r.Present()
	fmt.Fprintf(b, "\n%s\n%s\n", s.Headline, s.Reasoning)
	if s.Lapses != "" {
		fmt.Fprintln(b, s.Lapses)
	}
	fmt.Fprintf(b, "\n%s\n", s.Drawing.Sequence())
	if s.NotDrawn != "" {
		fmt.Fprintf(b, "%s%s\n\n", s.NotDrawn, r.in.Say(" --json has all.", "全部步骤用 --json 查看。"))
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

// answerGroups groups the answers that differ only in their duration. Each group is sorted by duration, shortest first.
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
