package lab

import (
	"cmp"
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

	in    language.Language // that it is told in
	draws int               // sales, as its lab says
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
	drawn, left := r.Trace.First(r.draws)
	fmt.Fprintln(b, drawn.Sequence())
	if len(left) > 0 {
		say("Not drawn: %d later sales, %s. --json has all.\n\n", "没有画出后来的 %d 单：%s。--json 有全部。\n\n",
			len(left), strings.Join(left, r.in.Say(", ", "、")))
	}
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
	for _, like := range r.alike() {
		first, last := like[0], like[len(like)-1]
		if len(like) == 1 {
			say("  the buyer at %s got %s after %.1f s\n", "  %s 的买家得到的响应：%s，用时 %.1f 秒\n", first.Sale, r.got(first), first.Seconds)
			continue
		}
		say("  %d buyers at %s got %s after %.1f to %.1f s\n", "  %d 个 %s 的买家得到的响应：%s，用时 %.1f 到 %.1f 秒\n",
			len(like), first.Sale, r.got(first), first.Seconds, last.Seconds)
	}
	say("Again: %s %s\n", "再来一次：%s %s\n", typed, r.Command+flag)
	if r.Explore != "" {
		say("In every order: %s %s\n", "所有的命令顺序：%s %s\n", typed, r.Explore+flag)
	}
	return b.String()
}

// alike groups the answers that differ only in time, the quickest first.
func (r Result) alike() (groups [][]Answer) {
	for _, a := range r.Answers {
		i := slices.IndexFunc(groups, func(g []Answer) bool { return g[0].Sale == a.Sale && r.got(g[0]) == r.got(a) })
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

// got says what a buyer got.
func (r Result) got(a Answer) string {
	if a.Status == 0 {
		return r.in.Say(noAnswer, "没有响应")
	}
	return strings.TrimSpace(strconv.Itoa(a.Status) + " " + a.Code)
}
