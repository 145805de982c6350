package lab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/service/reason"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

// Errors of a run. Match them with errors.Is.
var (
	// ErrUnknown means that there is no lab with the given name.
	ErrUnknown = errors.New("there is no such lab")
	// ErrNotFor means that the lab does not apply to the given lock.
	ErrNotFor = errors.New("the lab is not for this lock")
	// ErrNoRedis means that there is no real Redis on this machine.
	ErrNoRedis = language.Translate(errors.New("neither redis-server nor valkey-server is installed; install one, for example by "+
		"apt install redis-server or brew install redis"),
		"没有安装 redis-server，也没有安装 valkey-server；请安装一个，如 apt install redis-server 或 brew install redis")
	// ErrNoSignals means that a replica cannot be suspended here.
	ErrNoSignals = language.Translate(errors.New("this lab suspends a process, which works only on Unix"), "这个实验要暂停进程，只有 Unix 可以")
	errRoomLeft  = errors.New("the memory of Redis was not exhausted")
	errTooLong   = errors.New("it did not happen in time")
	errNotKnown  = errors.New("the result is not known yet")
)

// missingNeed returns a sentence about what this machine lacks, if a lab could not run for that reason; otherwise the zero Text.
func missingNeed(err error) language.Text {
	switch {
	case errors.Is(err, ErrNoRedis):
		return language.Both(ErrNoRedis.Error(), language.TextOf(ErrNoRedis, language.Chinese))
	case errors.Is(err, strategy.ErrNoCommand):
		return language.Both("the installed Redis lacks the command", "本机的 Redis 没有这条命令")
	case errors.Is(err, ErrNoSignals):
		return language.Both(ErrNoSignals.Error(), language.TextOf(ErrNoSignals, language.Chinese))
	default:
		return language.Text{}
	}
}

// failure is the error of a step of a scenario.
type failure struct {
	step language.Text // what the step waits for or does
	err  error
}

// Error returns the name of the step and the error, in English.
func (f *failure) Error() string { return f.step.In(language.English) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// errorText returns the sentence about an error in a language, or the text of an error that has no sentence.
func errorText(err error, in language.Language) string {
	var failed *failure
	switch {
	case errors.As(err, &failed):
		return failed.step.In(in) + in.Say(": ", "：") + errorText(failed.err, in)
	case missingNeed(err) != language.Text{}:
		return missingNeed(err).In(in)
	case errors.Is(err, errEnding):
		return in.Say(errEnding.Error(), "服务器正在退出")
	case errors.Is(err, errTooLong):
		return in.Say(errTooLong.Error(), "没有及时发生")
	case errors.Is(err, errNotKnown):
		return in.Say(errNotKnown.Error(), "结果尚不明确")
	case errors.Is(err, errRoomLeft):
		return in.Say(errRoomLeft.Error(), "它没有拒绝任何命令：内存还有余量")
	default:
		return reason.FromError(err).In(in, err.Error())
	}
}

// Names of the steps of scenarios, for errors and progress: what a step waits for or does.

// stepOf returns the name of a step that waits for a sale or a replica, as in "r1#1 to end".
func stepOf(who, english, chinese string) language.Text {
	return language.Both(who+" to "+english, who+" "+chinese)
}
func toEnd(who string) language.Text    { return stepOf(who, "end", "结束") }
func toWait(who string) language.Text   { return stepOf(who, "wait", "开始等待") }
func toObtain(who string) language.Text { return stepOf(who, "obtain the lock", "加锁成功") }
func toAsk(who string) language.Text    { return stepOf(who, "ask for the lock", "来加锁") }
func toWork(who string) language.Text   { return stepOf(who, "be at work", "开始执行") }
func toBeTold(who string) language.Text {
	return stepOf(who, "be told that its lock is lost", "得知自己的锁丢失")
}
func answerStep(who string) language.Text {
	return language.Both("an answer to "+who, who+" 得到响应")
}
func catchStep() language.Text { return language.Both("a command to be caught", "拦下一条命令") }
func heldReplyStep() language.Text {
	return language.Both("an answer to the command that was held", "被扣住的命令得到响应")
}
func snapshotStep() language.Text { return language.Both("a snapshot", "做快照") }
func restartStep() language.Text {
	return language.Both("the restart of Redis", "Redis 重新启动")
}
func lookUpStep() language.Text {
	return language.Both("the lookup of an order", "查询订单的结果")
}
func runStep(tick int) language.Text {
	return language.Both(fmt.Sprintf("a run of tick %d", tick), fmt.Sprintf("第 %d 个 tick 的任务运行", tick))
}
func tickStep(tick int) language.Text {
	return language.Both(fmt.Sprintf("tick %d", tick), fmt.Sprintf("第 %d 个 tick", tick))
}
func countStep() language.Text { return language.Both("the number of sales", "查询卖出多少件") }

// Reasons why a run gives no verdict.

// forgottenReason returns a sentence that the witness's record is incomplete.
func forgottenReason(in language.Language) string {
	return in.Say("the witness has forgotten what happened first", "最早的事件记录已被丢弃")
}

// noFaultReason returns a sentence that the lab's fault did not take place.
func (l Lab) noFaultReason(in language.Language) string {
	return in.Say("this did not happen: ", "没有发生：") + l.Fault.In(in)
}

// noProofReason returns a sentence that nothing went wrong and nothing was proved, with the sales that failed and their errors.
func noProofReason(events []witness.Event, in language.Language) string {
	text := in.Say("nothing went wrong, but nothing shows that the lock holds", "没有出错，但无法证明锁起了作用")
	for _, e := range events {
		if e.Kind == witness.KindEnds && e.Error != "" {
			text += in.Say("; %s failed: %s", "；%s 失败：%s", e.Sale, reason.WithCode(e.Code).In(in, e.Error))
		}
	}
	return text
}

// In returns the name of the kind in a language.
func (k Kind) In(in language.Language) string {
	if k == Embedded {
		return in.Say(string(k), "内嵌")
	}
	return in.Say(string(k), "真实")
}

// In returns the name of the need in a language, with code between backquotes.
func (n Need) In(in language.Language) string {
	if n == Signals {
		return in.Say("the signals of Unix, which stop a process", "Unix 的信号，用来暂停进程")
	}
	return in.Say("a `redis-server` or a `valkey-server`", "`redis-server` 或 `valkey-server`")
}

// HowCured returns a sentence about how the flaw is cured. It also says if no lock has the flaw, or if none cures it.
func (l Lab) HowCured(in language.Language) string {
	if l.Shows == "" {
		return in.Say("No step has this flaw: ", "没有哪一版有这个缺陷：") + withFullStop(l.Cure, in)
	}
	if l.Cured == "" {
		return in.Say("No lock here cures it: ", "没有哪种锁能修复它：") + withFullStop(l.Cure, in)
	}
	if l.isCureEarlier() {
		return in.Say("A cure, as in %s: ", "一种修复，如 %s：", l.Cured) + withFullStop(l.Cure, in)
	}
	return in.Say("The cure, from %s to %s: ", "%s 到 %s 的修复：", l.Shows, l.Cured) + withFullStop(l.Cure, in)
}

// withFullStop returns a text with a full stop.
func withFullStop(text language.Text, in language.Language) string {
	return text.In(in) + in.Say(".", "。")
}

// buyersText returns a line about buyers with the same answer, which are sorted by duration.
func buyersText(buyers []Answer, in language.Language) string {
	first, last := buyers[0], buyers[len(buyers)-1]
	if len(buyers) == 1 {
		return in.Say("the buyer at %s got %s after %.1f s", "%s 的买家得到的响应：%s，用时 %.1f 秒", first.Sale, first.outcome(in), first.Seconds)
	}
	return in.Say("%d buyers at %s got %s after %.1f to %.1f s", "%[2]s 的 %[1]d 个买家得到的响应：%[3]s，用时 %.1[4]f 到 %.1[5]f 秒",
		len(buyers), first.Sale, first.outcome(in), first.Seconds, last.Seconds)
}

// headline returns a line with the lock and the observed verdict.
func (r Result) headline() string {
	switch r.Observed {
	case verdict.Broken:
		return r.in.Say("%s is broken: %s", "%s 有缺陷：%s", r.Lock, r.Sentence)
	case verdict.Holds:
		return r.in.Say("%s keeps its promise: %s", "%s 守住了承诺：%s", r.Lock, r.claim.In(r.in))
	default:
		return r.Lock + r.in.Say(": ", "：") + r.Observed.In(r.in)
	}
}

// reasoning returns a sentence with the reason for the expectation, the duration of the run, and the kind of Redis. It has the expected
// verdict if another was observed.
func (r Result) reasoning() string {
	expected := r.in.Say("As expected", "符合预期")
	if !r.AsExpected() {
		expected = r.in.Say("Expected verdict: ", "预期是") + r.Expected.In(r.in)
	}
	return r.in.Say("%s: %s (%.1f s, %s Redis).", "%s：%s（%.1f 秒，%s Redis）。", expected, r.Why, r.Seconds, Kind(r.Redis).In(r.in))
}

// lapses returns a sentence about what went wrong although the lock kept its promise, or "".
func (r Result) lapses() string {
	var seen []string
	var says string
	for _, f := range r.Findings {
		title := witness.Titles()[string(f.Kind)].In(r.in)
		if title == "" {
			title = f.Sentence(r.in)
		}
		switch {
		case r.tolerates(f):
			if f.Kind == witness.Overlapped {
				says = r.in.Say("Both were inside for less than %.1f s: a timer on a busy machine may be that late, so it does not count. ",
					"双方同时在里面不到 %.1f 秒：机器繁忙时定时器可能晚这么多，所以不算。", lossNoticeSlack.Seconds())
			}
		case f.Kind.IsBad() && f.Kind != witness.RefusedToken && !slices.Contains(seen, title): // The refusal of a stale token is not a flaw.
			seen = append(seen, title)
		}
	}
	if len(seen) > 0 {
		says += r.in.Say("Still seen, and not promised: ", "仍然出现，但不在承诺之内：") + strings.Join(seen, r.in.Say(" · ", "、"))
	}
	if r.Observed != verdict.Holds {
		return ""
	}
	return strings.TrimSpace(says)
}

// notDrawnText returns a sentence that names the sales that a drawing omits, or "".
func notDrawnText(sales []string, in language.Language) string {
	if len(sales) == 0 {
		return ""
	}
	return in.Say("Not drawn: %d later sales, %s.", "没有画出后来的 %d 单：%s。", len(sales), strings.Join(sales, in.Say(", ", "、")))
}

// outcome returns the status and the code of an answer as a text.
func (a Answer) outcome(in language.Language) string {
	switch {
	case a.Status == 0:
		return in.Say(noAnswer, "没有响应")
	case a.Code == noJSON:
		return in.Say("HTTP %d, not JSON", "HTTP %d，不是 JSON", a.Status)
	default:
		return strings.TrimSpace("HTTP " + strconv.Itoa(a.Status) + " " + a.Code)
	}
}

// Sentences about an exploration.

// counterexampleText returns a clause with the steps of a counterexample.
func counterexampleText(c explore.Recording, in language.Language) string {
	return in.Say("in %d steps: %s", "%d 步：%s", c.Length(), c.Schedule())
}

// noScheduleText returns a clause that no schedule of the scenario shows the anomaly.
func noScheduleText(schedules int, in language.Language) string {
	return in.Say("none of %d schedules shows it", "%d 种时序都没有出现", schedules)
}

// noScenarioText returns a clause that no schedule of any scenario shows the anomaly.
func noScenarioText(in language.Language) string {
	return in.Say("no schedule of any scenario shows it", "所有场景的所有时序都没有出现")
}

// untestedText returns the reason why an exploration without a finding gives no verdict.
func untestedText(r explore.Result, in language.Language) string {
	if r.Complete {
		return strings.Join(r.Untested(), in.Say(", and ", "，并且"))
	}
	return r.EndedEarly()
}

// Words of the matrix.

// title returns the title of the page.
func (m Matrix) title() string { return m.in.Say("The matrix", "总表") }

// Legend returns the meanings of the marks.
func (m Matrix) Legend() string {
	text := ""
	for _, s := range verdict.Signs() {
		text += s.Mark + " " + s.Word.In(m.in) + "  "
	}
	return text + "! " + m.unexpectedText() + "\n" + m.bounds()
}

// bounds returns sentences about what the mark ✓ of a cell proves, and what it does not.
func (m Matrix) bounds() string {
	return m.in.Say(
		"✓ of a lab: one fault at one time did no harm; at another time it may. Of an exploration: in no order of two sales' commands.",
		"✓ 对实验来说：一种故障在一个时机没有造成问题，换个时机可能会。对探索来说：两单的命令的任何顺序都不会。")
}

// unexpectedText returns the words for a verdict that is not the expected one.
func (m Matrix) unexpectedText() string { return m.in.Say("not as expected", "与预期不符") }

// notQuickText returns the reason why a quick run leaves out a cell.
func (m Matrix) notQuickText() string {
	return m.in.Say("not part of a quick run", "不在 --quick 范围内")
}

// Mark returns the mark of a cell, one or two characters.
func (c Cell) Mark() string {
	if c.IsUnexpected() {
		return c.Observed.Sign().Mark + "!"
	}
	return c.Observed.Sign().Mark
}

// expected returns the expected verdict of a cell, with the word "expected" before it.
func (m Matrix) expected(c Cell) string {
	return m.in.Say("expected: ", "预期：") + c.Expected.In(m.in)
}

// observed returns the observed verdict of a cell, and the expected one if it differs.
func (m Matrix) observed(c Cell) string {
	if c.AsExpected() {
		return c.Observed.In(m.in)
	}
	return c.Observed.In(m.in) + m.in.Say(", ", "，") + m.expected(c)
}

// Summary returns a sentence with the numbers of cells by verdict.
func (m Matrix) Summary() string {
	counts := []any{m.Count(func(Cell) bool { return true })}
	for _, observed := range []verdict.Verdict{verdict.Broken, verdict.Holds, verdict.Unknown, verdict.NA, ""} {
		counts = append(counts, m.Count(func(c Cell) bool { return c.Observed == observed }))
	}
	return m.in.Say("%d cells: %d broken, %d holds, %d unknown, %d n/a, %d not run, %d not as expected",
		"共 %d 格：%d 会发生，%d 不会发生，%d 未知，%d 不适用，%d 未运行，%d 格与预期不符", append(counts, m.Count(Cell.IsUnexpected))...)
}

// Outcome returns a line with the outcome of a cell's run.
func (m Matrix) Outcome(c Cell) string {
	says := c.Observed.In(m.in)
	if c.IsUnexpected() {
		says += m.in.Say(", ", "，") + m.unexpectedText() + m.in.Say(": ", "：") + m.expected(c)
	}
	says += m.in.Say(" (%.1f s)", "（%.1f 秒）", c.Seconds)
	for _, text := range []string{c.Says, c.NotRun} {
		if text != "" {
			says += m.in.Say(": ", "：") + text
		}
	}
	return says
}
