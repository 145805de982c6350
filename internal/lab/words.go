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
	ErrUnknown = errors.New("there is no such lab")
	ErrNotFor  = errors.New("the lab is not for this lock")
	// ErrNoRedis means that there is no real Redis on this machine.
	ErrNoRedis = language.Translate(errors.New("neither redis-server nor valkey-server is installed; install one, for example by "+
		"apt install redis-server or brew install redis"),
		"没有安装 redis-server，也没有安装 valkey-server；请安装一个，如 apt install redis-server 或 brew install redis")
	// ErrNoSignals means that a replica cannot be stopped here.
	ErrNoSignals = language.Translate(errors.New("it stops a process, which only Unix can"), "这个实验要暂停进程，只有 Unix 可以")
	errRoomLeft  = errors.New("it refuses nothing: it has memory left")
	errTooLong   = errors.New("it did not happen in time")
	errNotKnown  = errors.New("nobody knows yet")
)

// lacking returns a sentence about what this machine lacks, if the error says that a lab could not run for want of it; otherwise "".
func lacking(err error) language.Text {
	switch {
	case errors.Is(err, ErrNoRedis):
		return language.Both(ErrNoRedis.Error(), language.TextOf(ErrNoRedis, language.Chinese))
	case errors.Is(err, strategy.ErrNoCommand):
		return language.Both("the Redis that is installed lacks the command", "本机的 Redis 没有这条命令")
	case errors.Is(err, ErrNoSignals):
		return language.Both("this lab stops a process, which only Unix can", language.TextOf(ErrNoSignals, language.Chinese))
	default:
		return language.Text{}
	}
}

type failure struct {
	step language.Text
	err  error
}

func (f *failure) Error() string { return f.step.In(language.English) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// explain returns the sentence about an error in a language, or the text of an error that has no sentence.
func explain(err error, in language.Language) string {
	var failed *failure
	switch {
	case errors.As(err, &failed):
		return failed.step.In(in) + in.Say(": ", "：") + explain(failed.err, in)
	case lacking(err) != language.Text{}:
		return lacking(err).In(in)
	case errors.Is(err, errEnding):
		return in.Say(errEnding.Error(), "服务器正在退出")
	case errors.Is(err, errTooLong):
		return in.Say(errTooLong.Error(), "没有及时发生")
	case errors.Is(err, errNotKnown):
		return in.Say(errNotKnown.Error(), "结果尚不明确")
	case errors.Is(err, errRoomLeft):
		return in.Say(errRoomLeft.Error(), "它没有拒绝任何命令：内存还有余量")
	default:
		return reason.Of(err).In(in, err.Error())
	}
}

// Names of the steps of scenarios, for errors and progress.

func to(who, english, chinese string) language.Text {
	return language.Both(who+" to "+english, who+" "+chinese)
}
func toEnd(who string) language.Text    { return to(who, "end", "结束") }
func toWait(who string) language.Text   { return to(who, "wait", "开始等待") }
func toObtain(who string) language.Text { return to(who, "obtain the lock", "加锁成功") }
func toAsk(who string) language.Text    { return to(who, "ask for the lock", "来加锁") }
func toWork(who string) language.Text   { return to(who, "be at work", "开始执行") }
func toBeTold(who string) language.Text {
	return to(who, "be told that its lock is lost", "得知自己的锁丢失")
}
func hearing(who string) language.Text {
	return language.Both("an answer to "+who, who+" 得到响应")
}
func catching() language.Text { return language.Both("a command to be caught", "拦下一条命令") }
func answering() language.Text {
	return language.Both("an answer to the command that was held", "被扣住的命令得到响应")
}
func saving() language.Text { return language.Both("a snapshot", "做快照") }
func beginning() language.Text {
	return language.Both("a Redis that begins again", "Redis 重新启动")
}
func lookingUp() language.Text {
	return language.Both("what became of an order", "查询订单的结果")
}
func runOf(tick int) language.Text {
	return language.Both(fmt.Sprintf("a run of tick %d", tick), fmt.Sprintf("第 %d 个 tick 的任务运行", tick))
}
func passing(tick int) language.Text {
	return language.Both(fmt.Sprintf("tick %d", tick), fmt.Sprintf("第 %d 个 tick", tick))
}
func counting() language.Text { return language.Both("how many were sold", "查询卖出多少件") }

// Reasons why a run gives no verdict.

func forgotten(in language.Language) string {
	return in.Say("the witness has forgotten what happened first", "最早的事件记录已被丢弃")
}
func (l Lab) didNotHappen(in language.Language) string {
	return in.Say("this did not happen: ", "没有发生：") + l.Fault.In(in)
}

// provesNothing returns a sentence that nothing went wrong, with the sales that failed and the reasons.
func provesNothing(events []witness.Event, in language.Language) string {
	text := in.Say("nothing went wrong, but nothing shows that the lock holds", "没有出错，但无法证明锁起了作用")
	for _, e := range events {
		if e.Kind == witness.KindEnds && e.Error != "" {
			text += in.Say("; %s failed: %s", "；%s 失败：%s", e.Sale, reason.WithCode(e.Code).In(in, e.Error))
		}
	}
	return text
}

// In returns the text in a language.
func (k Kind) In(in language.Language) string {
	if k == Embedded {
		return in.Say(string(k), "内嵌")
	}
	return in.Say(string(k), "真实")
}

// In returns the text in a language, with code between backquotes.
func (n Need) In(in language.Language) string {
	if n == Signals {
		return in.Say("the signals of Unix, which stop a process", "Unix 的信号，用来暂停进程")
	}
	return in.Say("a `redis-server` or a `valkey-server`", "`redis-server` 或 `valkey-server`")
}

// HowCured returns a sentence on how the flaw is cured, or that no step has it or cures it.
func (l Lab) HowCured(in language.Language) string {
	if l.Shows == "" {
		return in.Say("No step has this flaw: ", "没有哪一版有这个缺陷：") + sentence(l.Cure, in)
	}
	if l.Cured == "" {
		return in.Say("No lock here cures it: ", "没有哪种锁能修复它：") + sentence(l.Cure, in)
	}
	if l.isEarlier() {
		return in.Say("A cure, as %s has it: ", "一种修复，如 %s：", l.Cured) + sentence(l.Cure, in)
	}
	return in.Say("The cure, from %s to %s: ", "%s 到 %s 的修复：", l.Shows, l.Cured) + sentence(l.Cure, in)
}

// sentence returns a text with a full stop.
func sentence(text language.Text, in language.Language) string {
	return text.In(in) + in.Say(".", "。")
}

// summary returns a line about buyers with the same answer, the quickest first.
func summary(buyers []Answer, in language.Language) string {
	first, last := buyers[0], buyers[len(buyers)-1]
	if len(buyers) == 1 {
		return in.Say("the buyer at %s got %s after %.1f s", "%s 的买家得到的响应：%s，用时 %.1f 秒", first.Sale, first.outcome(in), first.Seconds)
	}
	return in.Say("%d buyers at %s got %s after %.1f to %.1f s", "%[2]s 的 %[1]d 个买家得到的响应：%[3]s，用时 %.1[4]f 到 %.1[5]f 秒",
		len(buyers), first.Sale, first.outcome(in), first.Seconds, last.Seconds)
}

// head returns a line with the lock and the observed verdict.
func (r Result) head() string {
	switch r.Observed {
	case verdict.Broken:
		return r.in.Say("%s is broken: %s", "%s 有缺陷：%s", r.Lock, r.Sentence)
	case verdict.Holds:
		return r.in.Say("%s keeps its promise: %s", "%s 守住了承诺：%s", r.Lock, r.promise.In(r.in))
	default:
		return r.Lock + r.in.Say(": ", "：") + r.Observed.In(r.in)
	}
}

// about returns a sentence with the reason for the expected verdict, the duration, and the Redis.
func (r Result) about() string {
	expected := r.in.Say("As expected", "符合预期")
	if !r.AsExpected() {
		expected = r.in.Say("Expected was ", "预期是") + r.Expected.In(r.in)
	}
	return r.in.Say("%s: %s (%.1f s, %s Redis).", "%s：%s（%.1f 秒，%s Redis）。", expected, r.Why, r.Seconds, Kind(r.Redis).In(r.in))
}

// still returns a sentence on what went wrong although the lock kept its promise, or "".
func (r Result) still() string {
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
		case f.Kind.IsBad() && f.Kind != witness.RefusedToken && !slices.Contains(seen, title): // to refuse a stale token is a cure
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

// notDrawn returns a sentence that names the sales that a drawing omits, or "".
func notDrawn(sales []string, in language.Language) string {
	if len(sales) == 0 {
		return ""
	}
	return in.Say("Not drawn: %d later sales, %s.", "没有画出后来的 %d 单：%s。", len(sales), strings.Join(sales, in.Say(", ", "、")))
}

func (a Answer) outcome(in language.Language) string {
	switch {
	case a.Status == 0:
		return in.Say(noAnswer, "没有响应")
	case a.Code == noJSON:
		return in.Say("%d no JSON", "%d，不是 JSON", a.Status)
	default:
		return strings.TrimSpace(strconv.Itoa(a.Status) + " " + a.Code)
	}
}

// Sentences about an exploration.

func shortest(c explore.Recording, in language.Language) string {
	return in.Say("in %d steps: %s", "%d 步：%s", c.Length(), c.Schedule())
}
func inNone(schedules int, in language.Language) string {
	return in.Say("none of %d schedules shows it", "%d 种时序都没有出现", schedules)
}
func inNoScenario(in language.Language) string {
	return in.Say("no schedule of any scenario shows it", "所有场景的所有时序都没有出现")
}

// untested returns the reason why an exploration without a finding gives no verdict.
func untested(r explore.Result, in language.Language) string {
	if r.Complete {
		return strings.Join(r.Untested(), in.Say(", and ", "，并且"))
	}
	return r.EndedEarly()
}

// Words of the matrix.

func (m Matrix) title() string { return m.in.Say("The matrix", "总表") }

// Legend returns the meanings of the marks.
func (m Matrix) Legend() string {
	text := ""
	for _, s := range verdict.Signs() {
		text += s.Mark + " " + s.Word.In(m.in) + "  "
	}
	return text + "! " + m.unlike() + "\n" + m.bounds()
}

// bounds returns a sentence on the limits of a cell's run.
func (m Matrix) bounds() string {
	return m.in.Say(
		"✓ of a lab: one fault at one time did no harm; at another time it may. Of an exploration: in no order of two sales' commands.",
		"✓ 对实验来说：一种故障在一个时机没有造成问题，换个时机可能会。对探索来说：两单的命令的任何顺序都不会。")
}

func (m Matrix) unlike() string { return m.in.Say("not as expected", "与预期不符") }
func (m Matrix) notQuick() string {
	return m.in.Say("it is not among the quick ones", "不在 --quick 范围内")
}

// Mark returns the mark of a cell, one or two characters.
func (c Cell) Mark() string {
	if c.Unlike() {
		return c.Observed.Sign().Mark + "!"
	}
	return c.Observed.Sign().Mark
}

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
		"共 %d 格：%d 会发生，%d 不会发生，%d 未知，%d 不适用，%d 未运行，%d 格与预期不符", append(counts, m.Count(Cell.Unlike))...)
}

// Outcome returns a line with the outcome of a cell's run.
func (m Matrix) Outcome(c Cell) string {
	says := c.Observed.In(m.in)
	if c.Unlike() {
		says += m.in.Say(", ", "，") + m.unlike() + m.in.Say(": ", "：") + m.expected(c)
	}
	says += m.in.Say(" (%.1f s)", "（%.1f 秒）", c.Seconds)
	for _, text := range []string{c.Says, c.NotRun} {
		if text != "" {
			says += m.in.Say(": ", "：") + text
		}
	}
	return says
}
