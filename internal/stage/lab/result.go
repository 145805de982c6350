package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

	in language.Language // that it is told in
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

// Text tells a result for people. The commands begin with the program as it was typed, and end with the flag of the language, if it was.
func (r Result) Text(typed, flag string) string {
	verdict := r.in.Say("as expected", "符合预期")
	if !r.AsExpected() {
		verdict = r.in.Say("expected was ", "预期是") + r.Expected.In(r.in)
	}
	b := &strings.Builder{}
	say := func(english, chinese string, values ...any) { b.WriteString(r.in.Say(english, chinese, values...)) }
	say("\n%s: %s, %s: %s (%.1f s, %s Redis)\n\n", "\n%s 的缺陷：%s，%s：%s（%.1f 秒，%s Redis）\n\n",
		r.Lock, r.Observed.In(r.in), verdict, r.Why, r.Seconds, Kind(r.Redis).In(r.in))
	fmt.Fprintln(b, r.Trace.Sequence())
	if r.Reason != "" {
		say("It cannot be said: %s.\n", "无法判断：%s。\n", r.Reason)
	}
	var told []string
	for _, f := range r.Findings {
		if sentence := f.Says(r.in); !slices.Contains(told, sentence) {
			told = append(told, sentence)
			fmt.Fprintf(b, "  %s\n", sentence)
		}
	}
	for _, a := range r.Answers {
		say("  the buyer at %s got %s after %.1f s\n", "  %s 的买家得到的响应：%s，用时 %.1f 秒\n", a.Sale, r.got(a), a.Seconds)
	}
	say("Again: %s %s\n", "再来一次：%s %s\n", typed, r.Command+flag)
	if r.Explore != "" {
		say("In every order: %s %s\n", "所有的命令顺序：%s %s\n", typed, r.Explore+flag)
	}
	return b.String()
}

// got says what a buyer got.
func (r Result) got(a Answer) string {
	if a.Status == 0 {
		return r.in.Say(noAnswer, "没有响应")
	}
	return strings.TrimSpace(strconv.Itoa(a.Status) + " " + a.Code)
}
