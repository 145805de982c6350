package live

import (
	"errors"
	"fmt"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// overlapText returns the sentence about an overlap that has not ended.
func overlapText(a, b string) language.Text {
	return language.Both(fmt.Sprintf("%s and %s are in the critical section together", a, b), fmt.Sprintf("%s 和 %s 同时在临界区里", a, b))
}

// luckyPassText returns the sentence about a run whose numbers are right although the lock failed.
func luckyPassText(r history.Report) language.Text {
	return language.Both(
		fmt.Sprintf("%d sold, and this time each was deducted from the stock, though the lock let two in", r.Sold),
		fmt.Sprintf("卖出 %d 件，这次每一件都扣了库存，但锁没有起作用：曾有两单同时在临界区里", r.Sold))
}

// reportText returns the sentence about the report of a run, which may not have ended.
func reportText(r history.Report) language.Text {
	switch {
	case r.Lost != 0 || r.Oversold > 0:
		return r.Explanation()
	case r.Sold == 0:
		return language.Both("nothing has been sold yet", "还没有卖出任何一件")
	case r.InFlight > 0:
		return language.Both(
			fmt.Sprintf("%d sold so far, and each was deducted from the stock", r.Sold),
			fmt.Sprintf("目前卖出 %d 件，每一件都扣了库存", r.Sold))
	default:
		return r.Explanation()
	}
}

// texts returns the warnings about the shop itself. displayName returns the name that the page shows for a replica.
func (t *shopTrouble) texts(in language.Language, displayName func(string) string) TroubleFrame {
	all := TroubleFrame{}
	switch {
	case t.runErr == nil:
	case lock.CodeOf(t.runErr) == "no_replica":
		all = append(all, in.Say("No replica answers: what you see is out of date.", "没有实例响应：画面不是最新的。"))
	case errors.Is(t.runErr, ErrRunDue):
		all = append(all, in.Say("Redis no longer has a run or its stock: a new run begins when the sales in flight have ended.",
			"Redis 里已经没有这一轮或它的库存：处理中的请求结束后，新的一轮开始。"))
	default:
		all = append(all, in.Say("Redis does not answer: nobody can buy, and what you see is out of date.", "Redis 没有响应：谁都买不了，画面不是最新的。"))
	}
	if t.lostRun != (language.Text{}) {
		all = append(all, t.lostRun.In(in))
	}
	for _, name := range t.paused {
		all = append(all, in.Say("%s is paused, with its sales and timers.", "%s 已暂停：它的各单都停在原处，定时器也停了。", displayName(name)))
	}
	for _, name := range t.cutOff {
		all = append(all, in.Say("%s is cut off from Redis: its commands and their replies wait on the way.",
			"%s 与 Redis 断开：它的命令和响应都停在途中。", displayName(name)))
	}
	return all
}

// lostRunText returns the sentence about a run that ended because Redis was unreachable or lost its data.
func lostRunText(before, now history.Report, wasGone bool) language.Text {
	happened := language.Both("Redis was gone, and a new run has begun", "Redis 曾经失联，随后开始了新的一轮")
	switch {
	case wasGone && now.Forgot:
		happened = language.Both("Redis was gone, and has forgotten the run", "Redis 曾经失联，并丢失了这一轮的数据")
	case now.Forgot:
		happened = language.Both("Redis has forgotten the run (FLUSHALL, or its keys are deleted)", "Redis 丢失了这一轮的数据（FLUSHALL，或键被删除）")
	}
	return language.Both(
		fmt.Sprintf("%s: the stock was %d, it is %d; %d sales no longer count.",
			happened.In(language.English), before.Remaining, now.Remaining, before.Sold),
		fmt.Sprintf("%s：库存原来是 %d，现在是 %d，之前的 %d 单不再计入。",
			happened.In(language.Chinese), before.Remaining, now.Remaining, before.Sold))
}
