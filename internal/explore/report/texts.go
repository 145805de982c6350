package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/verdict"
)

// verdictText returns a sentence with the verdict of an exploration.
func (r Request) verdictText(result explore.Result) string {
	say := r.Scenario.Say
	switch v := result.Verdict(); {
	case v == verdict.Broken && r.Each:
		return r.summaryText(result)
	case v == verdict.Broken:
		return r.counterexampleText(result.Found[0])
	case v == verdict.Holds:
		return say("%s never shows %s: every schedule was explored (%s).", "%s 从不出现%s：所有时序都探索完了（%s）。",
			result.Lock, r.goalName(), result.Conditions())
	default:
		return say("%s: unknown. No schedule has shown %s (%s), but %s.", "%s：未知。没有时序出现%s（%s），但%s。",
			result.Lock, r.goalName(), result.Conditions(), result.Caveats())
	}
}

// counterexampleText returns a sentence with the anomaly of a counterexample and its number of steps.
func (r Request) counterexampleText(e explore.Recording) string {
	return r.Scenario.Say("%s shows %s in %d steps, and in no fewer: %s.", "%s 最少 %[3]d 步就出现 %[2]s：%[4]s。",
		r.Lock.Name, e.Anomaly(), e.Length(), explore.AnomalyText(e.Anomaly(), r.Scenario))
}

// summaryText returns a list of the anomalies found, and whether there may be more.
func (r Request) summaryText(result explore.Result) string {
	say := r.Scenario.Say
	var all []string
	for _, e := range result.Found {
		all = append(all, say("%s in %d steps", "%s（%d 步）", e.Anomaly(), e.Length()))
	}
	more := say("Every schedule was explored.", "所有时序都探索完了。")
	if but := result.Caveats(); but != "" {
		more = say("There may be more: %s.", "可能还有：%s。", but)
	}
	return say("%s (%s) shows %s. ", "%s（%s）会出现：%s。", result.Lock, result.Conditions(), strings.Join(all, say(", ", "、"))) + more
}

// goalName returns the name of the requested anomaly, for use within a sentence.
func (r Request) goalName() string {
	if r.Anomaly == "" {
		return r.Scenario.Say("an anomaly", "异常")
	}
	return r.Scenario.Say("%s", " %s", r.Anomaly)
}

// sizeText returns the numbers of schedules and states explored, and the longest schedule.
func sizeText(r explore.Result) string {
	english := "%d schedules, %d states, at most %d steps."
	if longestSchedule(r) == 1 {
		english = "%d schedules, %d states, at most %d step."
	}
	return r.Scenario.Say(english, "%d 种时序，%d 个状态，最多 %d 步。", r.Schedules, r.States, longestSchedule(r))
}

// coverageLines returns lines about the end states and the faults that an exploration has reached.
func coverageLines(r explore.Result) (lines []string) {
	var sold []string
	say, ends := r.Scenario.Say, 0
	for n, times := range r.Coverage.EndStates {
		if ends += times; times > 0 {
			sold = append(sold, say("%d with %d sold", "%d 种卖出 %d 件", times, n))
		}
	}
	if ends > 0 {
		lines = append(lines, say("End states: %s. States in which a sale waits for another one: %d.",
			"结束状态：%s。有一单在等另一单的状态：%d 个。", strings.Join(sold, say(", ", "，")), r.Coverage.ContendedStates))
	}
	var happened []string
	for _, f := range explore.AllFaults() {
		if r.Scenario.Faults[f.ID] > 0 {
			happened = append(happened, fmt.Sprintf("%s %d", f.Name, r.Coverage.Faults[f.Name]))
		}
	}
	if len(happened) > 0 {
		lines = append(lines, say("Schedules that end with a fault: %s.", "以故障结束的时序：%s。", strings.Join(happened, say(", ", "，"))))
	}
	return lines
}

// printExplanation prints an explanation. nil means that no explanation was requested, or that the search was interrupted.
func (r Request) printExplanation(out io.Writer, why *session.Explanation) {
	say := r.Scenario.Say
	if why == nil {
		if r.Why {
			fmt.Fprint(out, say("Why: unknown, because the search was interrupted.\n", "原因：未知，因为被中断。\n"))
		}
		return
	}
	fmt.Fprintln(out, say("Why: ", "原因：")+r.turningPointsText(why))
	if why.PointOfNoReturn > 0 {
		fmt.Fprint(out, r.escapesText(why))
	}
	if len(why.Undecided) > 0 {
		slices.Sort(why.Undecided)
		fmt.Fprint(out, say("It may be a later step: before steps %s, %d schedules were not enough to decide.\n",
			"也可能是更晚的一步：在第 %s 步之前，%d 种时序还不足以判断。\n", strings.Trim(fmt.Sprint(why.Undecided), "[]"), maxSchedulesPerQuestion))
	}
	fmt.Fprint(out, say("A way is a schedule from there to the end without further faults (%d were run).\n",
		"走法指从该步起不再出故障、一直走到结束的时序（运行了 %d 种）。\n", why.Schedules))
}

// turningPointsText returns sentences about the step that made the anomaly possible, and the point of no return.
func (r Request) turningPointsText(why *session.Explanation) (says string) {
	say := r.Scenario.Say
	switch {
	case why.PointOfNoReturn == 0 && len(why.Undecided) > 0:
		says = say("the point of no return is unknown: there were too many ways to explore all of them.",
			"无法确定从哪一步起无法挽回：剩下的走法太多，没有看完。")
	case why.PointOfNoReturn == 0:
		says = say("it could not be avoided from the start. Every way shows %s, whatever the order.",
			"从一开始就无法挽回。无论按什么顺序，每种走法都会出现 %s。", why.Anomaly)
	case why.PointOfNoReturn == why.Step:
		says = say("it could be avoided until step %d, %s, which shows it.", "直到第 %d 步 %s 发生之前，都还可以避免。", why.PointOfNoReturn, why.PointToken)
	default:
		says = say("step %d, %s, is the point of no return. From there on, every way shows %s.",
			"第 %d 步 %s 是无法挽回的一步。从这一步起，每种走法都会出现 %s。", why.PointOfNoReturn, why.PointToken, why.Anomaly)
	}
	if why.EnablingFault == 0 || why.EnablingFault == why.PointOfNoReturn {
		return says
	}
	first, size := utf8.DecodeRuneInString(says)
	return say("step %d, %s, made it possible. Before it, no way shows %s.\n",
		"前提是第 %d 步 %s：在这一步之前，无论怎样走都不会出现 %s。\n", why.EnablingFault, why.EnablingToken, why.Anomaly) +
		string(unicode.ToUpper(first)) + says[size:]
}

// escapesText returns sentences about the choices that would have avoided the anomaly, and the consequences of the first.
func (r Request) escapesText(why *session.Explanation) string {
	var choices []string
	for _, s := range why.Escapes {
		choices = append(choices, s.Token)
	}
	say, first := r.Scenario.Say, why.Escapes[0]
	says := say("Instead, %s would have avoided it: %s", "换成 %s 就能避免：%s", strings.Join(choices, say(" or ", " 或 ")), first.Says)
	if len(first.Path) > 0 {
		says += say(", and then %s", "，然后 %s", strings.Join(first.Path, " "))
	}
	says += say(".", "。")
	if len(first.Shows) > 0 {
		says += say(" But that way shows %s.", "但那样会出现 %s。", strings.Trim(fmt.Sprint(first.Shows), "[]"))
	}
	return says + "\n"
}

// anomalyHitText returns a line about an anomaly that a step shows.
func anomalyHitText(scenario explore.Scenario, s explore.AnomalyHit) string {
	return scenario.Say("  ✗  step %d shows %s: %s\n", "  ✗  第 %d 步出现 %s：%s\n", s.Step, s.Anomaly, s.Says)
}

// outcomeText returns sentences about the outcome under the second lock.
func (r Request) outcomeText(c session.Counterfactual, interrupted bool) string {
	say, second := r.Scenario.Say, c.Locks[1]
	reason := say("%d schedules were not enough to decide", "%d 种时序还不足以判断", maxSchedulesPerQuestion)
	if interrupted {
		reason = say("the search was interrupted", "搜索被中断")
	}
	switch c.Outcome {
	case session.Shows:
		return say("%s does not survive: it shows %s, too.\n", "%s 也避免不了：同样出现 %s。\n", second, c.Anomaly)
	case session.NeverEnds:
		return say("Under %s the sales never all end.\n", "%s 无法让所有的单都结束。\n", second)
	case session.Undecided:
		return say("It is unknown whether %s survives: %s.\n", "%s 能否避免，尚不清楚：%s。\n", second, reason)
	}
	says := say("%s survives: all sales end.", "%s 能避免：所有的单都结束了。", second)
	switch {
	case c.Outcome == session.NeverShows:
		says += say(" No schedule of it shows %s (%s).", "它的所有时序都不会出现 %s（%s）。", c.Anomaly, c.Conditions)
	case c.Outcome == session.OtherwiseShows:
		says += say(" But another schedule of it shows %s: %s", "但它的另一个时序会出现 %s：%s",
			c.Anomaly, r.replayCommandFor(r.Against, c.OtherSchedule)+r.LangFlag)
	case c.Anomaly != "":
		says += say(" It is unknown whether another schedule of it shows %s: %s.", "它的其他时序会不会出现 %s，尚不清楚：%s。", c.Anomaly, reason)
	default:
		says = say("Under %s all sales end.", "%s 的所有单都结束了。", second)
	}
	return says + "\n"
}

// unknownLocksText returns a list of the locks for which it is unknown whether they show an anomaly; "": there are none. The anomaly is
// given as an index into Cells.
func unknownLocksText(scenario explore.Scenario, rows []explore.LockRow, anomaly int) (says string) {
	for _, interrupted := range []bool{false, true} {
		var names []string
		label := ""
		for _, row := range rows {
			if c := row.Cells[anomaly]; c.Applies && c.Verdict() == verdict.Unknown && c.Interrupted == interrupted {
				names, label = append(names, row.Lock), c.String()
			}
		}
		if len(names) > 0 {
			says += scenario.Say(" (%s: %s)", "（%s：%s）", strings.Join(names, scenario.Say(", ", "、")), label)
		}
	}
	return says
}

// printLegend prints the legend of the table.
func (r Request) printLegend(schedules int, interrupted bool) {
	scenario, out := r.Scenario, r.Out
	lines := []string{
		scenario.Say(`expiry, 3    in the scenario "expiry", in 3 steps; no schedule of any scenario is shorter`,
			"expiry, 3    在场景 expiry 下，3 步；任何场景的任何时序都不会更短"),
		scenario.Say("no fault, 4  without any fault, in 4 steps", "no fault, 4  没有任何故障，4 步"),
		scenario.Say("never        in no schedule of any scenario below, and all were explored: %d sales, one kind of fault, once",
			"never        下面所有场景的所有时序都探索完了，从不出现：只有 %d 单，只有一种故障，只出一次", scenario.Actors),
		"unknown      " + explore.UnknownText(scenario.Language) + scenario.Say("; explore the lock by itself to see which", "：单独探索会说明是哪一种"),
	}
	if interrupted {
		lines = append(lines, scenario.Say("interrupted  the search was interrupted before all schedules were explored",
			"interrupted  还没探索完就被中断"))
	}
	lines = append(lines, scenario.Say("–            this lock does not promise that the anomaly never happens", "–            这种锁不承诺避免这种异常"))
	fmt.Fprint(out, scenario.Say(
		"\nA row is a lock, a column an anomaly. A cell says when the lock shows the anomaly:\n",
		"\n每一行是一种锁，每一列是一种异常。格子里写的是什么时候出现这种异常：\n")+Indent(lines))
	fmt.Fprint(out, scenario.Say("\nThe anomalies:\n", "\n异常：\n")+Indent(AnomalyLines(scenario.Language)))
	fmt.Fprint(out, scenario.Say("\nThe scenarios:\n", "\n场景：\n"))
	for _, s := range explore.Scenarios(scenario.Actors) {
		fmt.Fprintf(out, "  %-13s %s\n", s.Name, joinWords(r.Command+" NAME", s.String()))
	}
	r.printNodesLegend()
	fmt.Fprint(out, scenario.Say("\n%d schedules. Not included, because they break every lock that expires, or every lock on one Redis:\n",
		"\n共 %d 种时序。没有包括以下故障：它们能攻破任何会过期的锁，或者单个 Redis 上的任何锁：\n", schedules))
	for _, fault := range explore.AllFaults() {
		if fault.BreaksEveryLock {
			fmt.Fprintf(out, "  %-13s %s v11 --faults %s=1\n", fault.Name, r.Command, fault.Name)
		}
	}
}

// printNodesLegend prints the scenarios and limits that apply only to locks on several masters.
func (r Request) printNodesLegend() {
	scenario, out := r.Scenario, r.Out
	for _, s := range evolution.Table() {
		if !s.OnNodes {
			continue
		}
		fmt.Fprint(out, scenario.Say(
			"\nFor %s, every sale tries once, and a scenario has at most %d schedules: --try %d --max-schedules %[2]d.\n"+
				"It has the faults of its masters, too:\n",
			"\n对 %s，每一单只尝试一次，每个场景最多 %d 种时序：--try %d --max-schedules %[2]d。\n它还有主节点的故障：\n",
			s.Name, explore.MaxSchedulesOnNodes, scenario.Actors))
		for _, named := range explore.ScenariosFor(s, scenario.Actors) {
			isNodeScenario := func(f explore.Fault) bool { return f.OnNode && f.Name == named.Name }
			if slices.ContainsFunc(explore.AllFaults(), isNodeScenario) {
				fmt.Fprintf(out, "  %-13s %s %s\n", named.Name, r.Command, joinWords(s.Name, named.String()))
			}
		}
	}
}

// refusalText returns a sentence about why a step could not be taken.
func (w *walk) refusalText(token string, err error) string {
	var stale *explore.StaleError
	switch {
	case errors.Is(err, explore.ErrMalformed):
		return w.request.Scenario.Say("%s is not a step. Type a number, or a token from the list; explore --help describes the tokens.",
			"%s 不是一步。请输入序号，或列表里的一步；写法见 docs/break-it.zh-CN.md，全部写法见 explore --help（英文）。", token)
	case errors.As(err, &stale):
		return w.request.Scenario.Say("%s cannot happen now: %s.", "%s 现在不能发生：%s。", token, stale.Reason)
	default:
		return fmt.Sprintf("%s: %v.", token, err)
	}
}

// helpText returns the help on the commands of a walk.
func (w *walk) helpText() string {
	return w.request.Scenario.Say(`A thick line is a sale that believes that it holds the lock, until it begins to release it.
[lock: A] names the actual holder of the lock.
Type the number of a choice, or its token; several tokens are several steps.
  u  undoes the last step
  d  shows how many further steps an anomaly is away
  q  quits, and prints the command that replays the schedule
--faults sets how often each fault can happen. What is listed below the choices cannot happen now.
`, `粗线表示这一单认为自己持有锁（到开始释放为止）；[锁：A] 是锁实际的持有者。
输入一项的序号，或它的写法；一行可以写多步。
  u  撤销上一步
  d  显示离每种异常最少还有几步
  q  结束，并打印重放这个时序的命令
每种故障能发生几次，由 --faults 决定。选项下方列出的，现在不能发生。
`)
}

// distanceText returns the line of an anomaly in the list of distances. further contains the tokens of the steps to the anomaly.
func distanceText(a explore.Anomaly, steps int, further []string, scenario explore.Scenario) string {
	switch steps {
	case session.Never:
		return scenario.Say("  %-16s never, whatever happens from here", "  %-16s 无论怎样继续都不会出现", a)
	case session.Unknown:
		return scenario.Say("  %-16s not within %d schedules", "  %-16s %d 种时序内没有出现", a, maxSchedulesPerQuestion)
	case 0:
		return scenario.Say("  %-16s has shown", "  %-16s 已经出现", a)
	default:
		return scenario.Say("  %-16s in %d: %s", "  %-16s 还有 %d 步：%s", a, steps, strings.Join(further, " "))
	}
}

// distancesHeading returns the heading of the list of distances.
func distancesHeading(scenario explore.Scenario) string {
	return scenario.Say("Fewest further steps to each anomaly:\n", "到出现异常最少还有几步：\n")
}

// choiceText returns the description of a choice, with the name of its fault.
func (w *walk) choiceText(c session.Choice) string {
	if c.Fault != "" {
		return w.request.Scenario.Say("%s (%s)", "%s（%s）", c.Says, c.Fault)
	}
	return c.Says
}

// progressText returns a line with the progress of an exploration.
func progressText(now explore.Result, scenario explore.Scenario) string {
	return scenario.Say("%d steps deep, %d schedules, %d states", "深度 %d，%d 种时序，%d 个状态", now.Depth, now.Schedules, now.States)
}

// cellProgressText returns a line with the progress of one of the explorations for the table.
func cellProgressText(s explore.NamedScenario, now explore.Result, scenario explore.Scenario) string {
	return scenario.Say("%s, %s: %d schedules", "%s，%s：%d 种时序", now.Lock, s.Name, now.Schedules)
}

// boundFlagsText returns a list of the flags that set the bounds.
func boundFlagsText(scenario explore.Scenario) string {
	return scenario.Say("Bounds: --max-time, --max-schedules, --max-memory; 0: no bound.",
		"上限：--max-time、--max-schedules、--max-memory；0 表示不限。")
}

// speedText returns a line with the duration and the speed of an exploration.
func speedText(r explore.Result, scenario explore.Scenario) string {
	return scenario.Say("%d schedules in %.1f s, %.0f a second", "%d 种时序，用时 %.1f 秒，每秒 %.0f 种",
		r.Schedules, r.Seconds, float64(r.Schedules)/r.Seconds)
}

// totalTimeText returns a line with the duration of all explorations for the table.
func totalTimeText(schedules int, d time.Duration, scenario explore.Scenario) string {
	return scenario.Say("%d schedules in %.1f s\n", "%d 种时序，用时 %.1f 秒\n", schedules, d.Seconds())
}

// goalText returns the goal of a reader who wants the lock to show the anomaly.
func (r Request) goalText() string {
	return r.Scenario.Say("Make %s %s", "让 %s %s", r.Lock.Name, r.Anomaly.Row().Task.In(r.Scenario.Language))
}

// stepByStepText returns a line with the command that replays a schedule.
func (r Request) stepByStepText(schedule string) string {
	return r.Scenario.Say("Step by step: %s", "逐步重放：%s", r.replayCommand(schedule)) + r.LangFlag
}

// noAnomalyText returns the sentence that a schedule shows no anomaly.
func noAnomalyText(scenario explore.Scenario) string {
	return scenario.Say("This schedule shows no anomaly.", "这个时序没有出现异常。")
}

// differencesText returns sentences about where and why two locks differ in a schedule, and which anomalies each lock shows.
func (r Request) differencesText(c session.Counterfactual) string {
	say := r.Scenario.Say
	says := say("Row %d is the first that differs.\n", "第 %d 行开始不同。\n", c.FirstDifference)
	if c.FirstDifference == 0 {
		says = say("No step differs: both locks do the same until the end of this schedule.\n", "每一步都相同：直到时序结束，两种锁的行为一样。\n")
	}
	for _, why := range c.Why {
		says += say("%s.\n", "%s。\n", why)
	}
	for i, shown := range c.Shown {
		for _, s := range shown {
			says += say("%s shows %s in row %d: %s.\n", "%s 在第 %[3]d 行出现 %[2]s：%[4]s。\n", c.Locks[i], s.Anomaly, s.Step, s.Says)
		}
	}
	return says
}

// preventedText returns a list of the anomalies that no lock of the table shows although it promises to prevent them.
func preventedText(anomalies []string, scenario explore.Scenario) string {
	return scenario.Say("\nNo lock that promises to prevent it shows: %s.\n", "\n以下异常，承诺避免它的锁都没有出现：%s。\n",
		strings.Join(anomalies, scenario.Say(", ", "、")))
}

// replayText returns a line with the command that replays the schedule of a walk.
func replayText(command string, scenario explore.Scenario) string {
	return scenario.Say("\nReplay it: %s\n", "\n重放：%s\n", command)
}
