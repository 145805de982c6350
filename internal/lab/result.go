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

// Result is what a run of a lab has shown.
type Result struct {
	Lab      string            `json:"lab"`
	Lock     string            `json:"lock"`
	Observed verdict.Verdict   `json:"observed"`
	Expected verdict.Verdict   `json:"expected"`
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

	in      language.Language // that it is told in
	promise language.Text     // its lab's claim
	draws   int               // sales, as its lab says
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

// ExitCode gives 0 if all is as expected, 1 if something is not, and 2 if of something it cannot be said.
func ExitCode(results []Result) int {
	broken, unknown := false, false
	for _, r := range results {
		unknown = unknown || r.Observed == verdict.Unknown
		broken = broken || r.Observed != verdict.Unknown && !r.AsExpected()
	}
	return verdict.Search{Found: broken, Complete: !unknown}.Verdict().ExitCode()
}

// Story is a result as it is told to people.
type Story struct {
	Lock       string          `json:"lock"`
	Observed   verdict.Verdict `json:"observed"`
	AsExpected bool            `json:"as_expected"`
	Head       string          `json:"head"`
	About      string          `json:"about"`           // why that was expected, or what was
	Still      string          `json:"still,omitempty"` // what went wrong though the promise was kept
	Drawn      trace.Trace     `json:"drawn"`
	Left       string          `json:"left,omitempty"`   // which sales are not drawn
	Reason     string          `json:"reason,omitempty"` // why it cannot be said
	Says       []string        `json:"says"`
	Command    string          `json:"command"` // that shows it again
	Explore    string          `json:"explore,omitempty"`
}

// Story tells a result. A command begins after the program.
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
	for _, like := range r.alike() {
		s.Says = append(s.Says, summary(like, r.in))
	}
	return s
}

// Text tells a result for a terminal. The commands begin with the program as typed, and end with the flag of the language, if it was.
func (r Result) Text(typed, flag string) string {
	b, s := &strings.Builder{}, r.Story()
	fmt.Fprintf(b, "\n%s\n%s\n", s.Head, s.About)
	if s.Still != "" {
		fmt.Fprintln(b, s.Still)
	}
	fmt.Fprintf(b, "\n%s\n", s.Drawn.Sequence())
	if s.Left != "" {
		fmt.Fprintf(b, "%s%s\n\n", s.Left, r.in.Say(" --json has all.", "--json 有全部。"))
	}
	if s.Reason != "" {
		fmt.Fprintln(b, s.Reason)
	}
	for _, sentence := range s.Says {
		fmt.Fprintf(b, "  %s\n", sentence)
	}
	fmt.Fprint(b, r.in.Say("Again: %s %s\n", "再来一次：%s %s\n", typed, s.Command+flag))
	if s.Explore != "" {
		fmt.Fprint(b, r.in.Say("In every order: %s %s\n", "所有的命令顺序：%s %s\n", typed, s.Explore+flag))
	}
	return b.String()
}

// alike groups the answers that differ only in time, the quickest first.
func (r Result) alike() (groups [][]Answer) {
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
