package witness

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lockstep/internal/language"
)

// sentences are what the findings say. A word in braces is a field of the finding.
func sentences() map[FindingKind]language.Text {
	both := language.Both
	return map[FindingKind]language.Text{
		Removed:        both("{by} removed {of}'s lock", "{by} 删除了 {of} 的锁"),
		Overwrote:      both("{by} wrote over {of}'s lock", "{by} 覆盖了 {of} 的锁"),
		Prolonged:      both("{by} prolonged {of}'s lock", "{by} 延长了 {of} 的锁"),
		ExpiredAtWork:  both("{by}'s lock expired after {for}, while {by} was still at work", "{by} 的锁在 {for}后过期，而 {by} 还在执行"),
		Together:       both("{by} and {of} were inside together for {for}", "{by} 和 {of} 同时在临界区里，共 {for}"),
		RefusedToken:   both("the store refused {by}: its token {token} < {seen}", "存储拒绝了 {by}：它的令牌 {token} < {seen}"),
		WroteLate:      both("{by} wrote {for} after its lock had ended", "{by} 的锁结束 {for}之后，{by} 才写入"),
		Waited:         both("{by} waited for {for} behind {of}", "{by} 排在 {of} 后面等了 {for}"),
		WaitedInVain:   both("{by} waited for {for} behind {of}, in vain", "{by} 排在 {of} 后面等了 {for}，没有等到"),
		WaitsForItself: both("{by} waited for {for} for a lock that it held itself", "{by} 等自己持有的锁，等了 {for}"),
		Polled:         both("{by} asked for the lock {times} times in vain", "{by} 尝试加锁 {times} 次，都没有成功"),
		Told:           both("{by} was told that it had lost the lock", "{by} 得知自己丢了锁"),
		Forgot:         both("{by} forgot {of}'s lock", "{by} 丢失了 {of} 的锁"),
		Unanswered:     both("{by} asked for the lock, had no reply for {for}, and failed", "{by} 请求加锁，{for}没有响应，于是失败"),
		DoubtBooked:    both("{by}'s buyer was left in doubt; the ledger has the order", "{by} 的买家无法确定自己是否买到；账本里有这个订单"),
		DoubtUnbooked:  both("{by}'s buyer was left in doubt; the ledger has no order of it", "{by} 的买家无法确定自己是否买到；账本里没有这个订单"),
		RanTwice:       both("{by} ran tick {tick}, and so did {of}", "{by} 运行了第 {tick} 个 tick，{of} 也运行了它"),
		Missed:         both("nobody ran tick {tick}", "没有谁运行第 {tick} 个 tick"),
		Overtaken:      both("{by} was overtaken by {times} sales that asked after it", "{by} 被 {times} 个后来的单超过"),
		Idle:           both("nobody was inside for {for} after {of}, while {by} waited", "{of} 之后，临界区空了 {for}，而 {by} 在等待"),
		DiedHolding:    both("{by} died with the lock, and {of} waited {for} more", "{by} 崩溃时还持有锁，{of} 又等了 {for}"),
		RenewedOn:      both("{by}'s lock was renewed after {of} had ended: {times} times", "{of} 结束之后，{by} 的锁又续期了 {times} 次"),

		LostUpdate: both("{by} wrote stock {wrote}: it had read {read} before {of} wrote, so {of}'s update is lost",
			"{by} 写入库存 {wrote}：它读到 {read} 之后 {of} 写入过，所以 {of} 的更新丢失"),
		LeftBehind: both("{by} is gone, and its lock stays: it never expires, and nobody may remove it",
			"{by} 已经不在，它的锁残留：永不过期，也没有谁可以删除"),
		PassedOver: both("{by} died in the queue and was passed over: its turn was lost for {for}, then {of} came in",
			"{by} 在队列里崩溃，被跳过：轮到它时白等了 {for}，然后 {of} 进入"),
		PlaceExpired: both("{by} died in the queue, and its place expired before its turn: {of} came in at once",
			"{by} 在队列里崩溃，轮到它之前位置已经过期：{of} 直接进入"),
		SoldUntold: both("{by} was sold, though its buyer was told that it was not", "{by} 卖出了，买家却被告知没有卖出"),
		NeverBooked: both("{by} was not sold, though its buyer was told that it was: the ledger has no order of it",
			"{by} 没有卖出，买家却被告知卖出了：账本里没有这个订单"),
	}
}

// Says gives the finding's sentence.
func (f Finding) Says(in language.Language) string {
	by := f.who(in)
	return strings.NewReplacer(
		"{by} ", before(by), "{by}", by, "{of}", f.Of, "{for}", inShort(in, time.Duration(f.For)),
		"{token}", fmt.Sprint(f.Token), "{seen}", fmt.Sprint(f.Seen), "{tick}", fmt.Sprint(f.Tick),
		"{times}", fmt.Sprint(f.Times), "{read}", fmt.Sprint(f.Read), "{wrote}", fmt.Sprint(f.Wrote),
	).Replace(sentences()[f.Kind].In(in))
}

// before is a name before another word: in Chinese, words have no space between them.
func before(name string) string {
	if last, _ := utf8.DecodeLastRuneInString(name); unicode.Is(unicode.Han, last) {
		return name
	}
	return name + " "
}

// who is By, for people. Names of sales and replicas are the same in all languages.
func (f Finding) who(in language.Language) string {
	switch f.Kind {
	case Forgot:
		return redisIn(in, f.Node)
	case SoldUntold, NeverBooked, DoubtBooked, DoubtUnbooked:
		if f.By == ReplicaOf(f.By) {
			return phrase(in, "a sale at", f.By)
		}
	default:
	}
	if f.By == "" {
		return phrase(in, "somebody")
	}
	return f.By
}

// redisIn is a Redis's name for people.
func redisIn(in language.Language, node int) string {
	if node == 0 {
		return "Redis"
	}
	return phrase(in, "node", node)
}

// inShort writes a duration so that a person can grasp it.
func inShort(in language.Language, d time.Duration) string {
	if d < time.Second {
		return phrase(in, "milliseconds", d.Milliseconds())
	}
	return phrase(in, "seconds", d.Seconds())
}
