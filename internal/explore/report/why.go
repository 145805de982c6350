package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
)

// schedulesAsked bounds each question about what was seen: when it was too late, how far an anomaly is away.
const schedulesAsked = 20_000

// explain finds the point of no return, if that was asked for.
func (r Request) explain(ctx context.Context, schedule string, a explore.Anomaly) (*session.Why, error) {
	if !r.Why {
		return nil, nil //nolint:nilnil // nobody asked
	}
	why, err := session.Explain(ctx, r.Lock, r.Scenario, schedule, a, explore.Bounds{Schedules: schedulesAsked})
	if ctx.Err() != nil {
		return nil, nil //nolint:nilerr,nilnil // it was interrupted: what was seen says nothing
	}
	return &why, err
}

// explainAll does it for each counterexample.
func (r Request) explainAll(ctx context.Context, found []explore.Counterexample) (whys []*session.Why, err error) {
	for _, e := range found {
		why, err := r.explain(ctx, e.Schedule, e.Anomaly)
		if err != nil {
			return nil, err
		}
		whys = append(whys, why)
	}
	return whys, nil
}

// printReason says it in a few sentences.
func (r Request) printReason(out io.Writer, why *session.Why) {
	say := r.Scenario.Say
	if why == nil {
		if r.Why {
			fmt.Fprint(out, say("Why: not known, as it was interrupted.\n", "原因：未知，因为被中断。\n"))
		}
		return
	}
	fmt.Fprintln(out, say("Why: ", "原因：")+r.tooLate(why))
	if why.Point > 0 {
		fmt.Fprint(out, r.saves(why))
	}
	if len(why.Unsettled) > 0 {
		slices.Sort(why.Unsettled)
		fmt.Fprint(out, say("A later step may be it: before steps %s, %d schedules were not enough to tell.\n",
			"也可能是更晚的一步：在第 %s 步之前，%d 种时序还不足以判断。\n", strings.Trim(fmt.Sprint(why.Unsettled), "[]"), schedulesAsked))
	}
	fmt.Fprint(out, say("A way is one to the end, without a further fault (%d schedules were run to see them).\n",
		"走法指不再出故障、一直走到结束的时序（为此运行了 %d 种）。\n", why.Schedules))
}

// tooLate says from which step on it was possible, and from which on it was too late.
func (r Request) tooLate(why *session.Why) (says string) {
	say := r.Scenario.Say
	switch {
	case why.Point == 0 && len(why.Unsettled) > 0:
		says = say("it is not known when it was too late: the ways that were left were too many to look at.",
			"无法确定从哪一步起无法挽回：剩下的走法太多，没有看完。")
	case why.Point == 0:
		says = say("it was too late from the start. Every way shows %s, whatever the order.",
			"从一开始就无法挽回。无论按什么顺序，每种走法都会出现 %s。", why.Anomaly)
	case why.Point == why.Step:
		says = say("until step %d, %s, which shows it, there was a way out.", "在第 %d 步 %s 使它出现之前，一直可以避免。", why.Point, why.Token)
	default:
		says = say("step %d, %s, is the point of no return. From there on, every way shows %s.",
			"第 %d 步 %s 是无法挽回的一步。从这一步起，每种走法都会出现 %s。", why.Point, why.Token, why.Anomaly)
	}
	if why.Turn == 0 || why.Turn == why.Point {
		return says
	}
	first, size := utf8.DecodeRuneInString(says)
	return say("step %d, %s, made it possible. Before it, no way shows %s.\n",
		"第 %d 步 %s 使它成为可能。在这一步之前，没有走法会出现 %s。\n", why.Turn, why.TurnToken, why.Anomaly) +
		string(unicode.ToUpper(first)) + says[size:]
}

// saves says what would have saved it, and what else happens then.
func (r Request) saves(why *session.Why) string {
	var choices []string
	for _, s := range why.Saves {
		choices = append(choices, s.Token)
	}
	say, first := r.Scenario.Say, why.Saves[0]
	says := say("Instead, %s would have saved it: %s", "换成 %s 就能避免：%s", strings.Join(choices, say(" or ", " 或 ")), first.Says)
	if len(first.Way) > 0 {
		says += say(", and then %s", "，然后 %s", strings.Join(first.Way, " "))
	}
	says += say(".", "。")
	if len(first.Shows) > 0 {
		says += say(" But that way shows %s.", "但那样会出现 %s。", strings.Trim(fmt.Sprint(first.Shows), "[]"))
	}
	return says + "\n"
}
