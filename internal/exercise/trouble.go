package exercise

import (
	"errors"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// explanation returns the meaning of a reason and the remedy, without a full stop.
func explanation(reason string) language.Text {
	return map[string]language.Text{
		NotCompiled: language.Both("The code does not compile", "代码无法编译"),
		Panicked:    language.Both("The lock's code panicked", "锁的代码 panic 了"),
		Blind: language.Both("The code waits, loops, or starts a goroutine where the explorer cannot see it. "+
			"Wait by lock.Sleep, lock.Poll or Clock.Wait, and start goroutines by Clock.Go",
			"代码在探索器看不到的地方等待、循环或启动了 goroutine。请用 lock.Sleep、lock.Poll 或 Clock.Wait 等待，用 Clock.Go 启动 goroutine"),
		UndeclaredPoll: language.Both("The code tries again and again, but not by lock.Poll, or its attempts are not all the same. "+
			"Wait by lock.Poll, and send the same commands in each attempt. A failed attempt must not leave anything in Redis, or extend an expiry",
			"代码反复尝试，但没有用 lock.Poll，或者每次尝试不完全相同。请用 lock.Poll 等待，每次尝试发同样的命令，失败的尝试不要在 Redis 里留下东西，也不要延长过期时间"),
		Unrepeatable: language.Both("In one schedule, the code does not always do the same. "+
			"Take the time from its clock only, and use no randomness",
			"同样的步骤，代码两次做得不一样。时间只能取自它的时钟，也不能用随机数"),
		BadCommand: language.Both("The explorer's Redis does not have a command, or an argument of it", "探索器的 Redis 没有这条命令，或不支持它的参数"),
		BadKey: language.Both("A key is not the lock's. The lock is opts.Key, and all its other keys begin with {distributedLock}:, "+
			"so that a Redis Cluster has all of them in one slot (the store's check of exercise 10 has one key, seen)",
			"有一个键不属于这把锁。锁是 opts.Key，它的其他键都以 {distributedLock}: 开头，这样 Redis Cluster 才会把它们放在同一个槽里（练习 10 里存储的检查只用 seen 这一个键）"),
		Shared: language.Both(
			"All processes share a variable of the package, and it keeps its value from one schedule to the next. Put it into Locker",
			"包级变量由所有进程共享，而且会把值从一个时序带到下一个。请把它放进 Locker"),
		TimedOut: language.Both("The check was stopped before it had run every order, so the code neither passes nor fails",
			"还没跑完所有顺序，检查就被中止了，所以既不算通过，也不算失败"),
		OtherTrouble: language.Both("The check could not be carried out", "检查无法进行"),
	}[reason]
}

// fail makes o an outcome without a verdict. Says becomes the explanation of the reason, and the detail, unless that is empty.
func (o *Outcome) fail(in language.Language, reason, detail string) {
	o.State, o.Reason = verdict.Failed, reason
	o.Says = explanation(reason).In(in)
	if detail == "" {
		o.Says += in.Say(".", "。")
		return
	}
	o.Says += in.Say(":\n\n%s", "：\n\n%s", detail)
}

// failBy makes o an outcome without a verdict because of an error of the explorer or of Checker.checkSource.
func (o *Outcome) failBy(err error, in language.Language) {
	var at *explore.ScheduleError
	if errors.As(err, &at) {
		steps := strings.Fields(at.Schedule)
		// A task that stops at the error ends, which is not a step of the code.
		if last := len(steps) - 1; last >= 0 && strings.HasSuffix(steps[last], ":ends") {
			steps = steps[:last]
		}
		o.Schedule, o.Length = strings.Join(steps, " "), len(steps)
		err = at.Err
	}
	reason, kind := reasonOf(err)
	detail := language.TextOf(err, in)
	if kind != nil && reason != Panicked {
		detail = strings.Replace(detail, kind.Error(), "", 1) // The explanation says it.
	}
	detail = strings.TrimLeft(detail, ": ")
	if strings.HasPrefix(detail, "(") {
		detail = strings.Trim(detail, "()") // The detail is only the position.
	}
	o.fail(in, reason, detail)
	if at != nil && o.Schedule == "" {
		o.Says += in.Say("\n\nThis happens before the first step of a schedule.", "\n\n这发生在时序的第一步之前。")
	}
}

// reasonOf returns the reason for an error of the explorer or of Checker.checkSource, and the known error that it wraps; nil: none.
func reasonOf(err error) (reason string, kind error) {
	for _, known := range []struct {
		kind   error
		reason string
	}{
		{explore.ErrBlind, Blind}, {explore.ErrUndeclaredPoll, UndeclaredPoll}, {explore.ErrUnrepeatable, Unrepeatable},
		{explore.ErrCommand, BadCommand}, {explore.ErrKey, BadKey}, {errShared, Shared}, {explore.ErrPanicked, Panicked},
	} {
		if errors.Is(err, known.kind) {
			return known.reason, known.kind
		}
	}
	return OtherTrouble, nil
}
