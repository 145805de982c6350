package live

import (
	"fmt"

	"lockstep/internal/language"
	"lockstep/internal/service/history"
	"lockstep/internal/watch/witness"
)

// areTogether says so while it goes on.
func areTogether(a, b string) language.Text {
	return language.Both(fmt.Sprintf("%s and %s are inside together", a, b), fmt.Sprintf("%s 和 %s 同时在临界区里", a, b))
}

// notTogether takes it back.
func notTogether(first, second string) language.Text {
	return language.Both(
		fmt.Sprintf("%s had left before %s came in; its replica was silent meanwhile", first, second),
		fmt.Sprintf("%s 在 %s 进去之前就离开了；它的进程当时没有消息", first, second))
}

// why says what a finding means, in words for who has read nothing.
func why(kind string) language.Text {
	both := language.Both
	place := both(
		"A process keeps its place in the queue by asking again. A dead one asks no more: its place expires, and the next one has its turn.",
		"排队的进程要不断重新请求，才能保住位置。崩溃的进程不再请求：它的位置过期后，就轮到下一个。")
	return map[string]language.Text{
		string(witness.Told): both(
			"Its renewal found the lock gone, and the work was cancelled before it wrote. A write that is on its way already needs v7's token.",
			"续期时发现锁已经不在，于是在写入之前取消了执行。已经发出的写入这样拦不住，要靠 v7 的令牌。"),
		string(witness.PassedOver): place, string(witness.PlaceExpired): place,
		string(witness.DiedHolding): both(
			"A dead process gives nothing back. Its lock stays until it expires, and the next one waits for that.",
			"进程崩溃，锁没有释放。下一个要等到锁过期才能进去。"),
		string(witness.Removed): both(
			"DEL does not ask whose the lock is. The next sale may now come in while the other is still at work.",
			"DEL 不看锁是谁的。现在别人还在执行，下一单就可以进来。"),
		string(witness.Overwrote): both("The lock was taken over although its holder was still at work.", "持有者还在执行，锁就被别人拿走了。"),
		string(witness.ExpiredAtWork): both(
			"The work took longer than the lock's expiry. Redis removed the lock; the sale does not know that, and goes on.",
			"执行时间超过了锁的过期时间。Redis 删除了锁，这一单不知道，继续执行。"),
		string(witness.Together): both(
			"Each believes that it is alone. If both read the same stock, one of the two updates is lost.",
			"双方都以为只有自己。如果读到同一个库存，其中一次扣减就会丢失。"),
		string(witness.LostUpdate): both(
			"Both read the same stock, and both wrote one less. Two were sold, and the stock fell by one.",
			"双方读到同一个库存，都写入减一后的值。卖出两件，库存只减了一。"),
		string(witness.RefusedToken): both(
			"A later holder has written already. The store saw that this token is older, and refused the write: nothing is lost.",
			"后来的持有者已经写过。存储看到这个令牌更旧，拒绝了写入：什么也没有丢失。"),
		string(witness.WroteLate):  both("The sale wrote though the lock was no longer its own.", "锁已经不是它的了，它还是写入了。"),
		string(witness.LeftBehind): both("Until somebody removes the key by hand, nobody can buy.", "在有人手动删除这个键之前，谁都买不了。"),
		string(witness.WaitsForItself): both(
			"A nested call asked for the lock that its own sale holds. A lock that is not reentrant makes it wait for ever.",
			"嵌套调用请求自己这一单已经持有的锁。不可重入的锁会让它一直等下去。"),
		string(witness.Forgot): both(
			"Redis lost the lock while its holder was at work. Now two can be inside.",
			"持有者还在执行，Redis 丢失了锁。现在可能有两个同时进去。"),
		string(witness.Prolonged): both("An expiry was set on a lock that was another's.", "给别人的锁设置了过期时间。"),
	}[kind]
}

// tally is what the ledger says, in numbers and in words. It reports whether it says anything new.
func (s *scene) tally() (frame func(language.Language) any, news bool) {
	report, found := s.last.Report, s.found.counts()
	text := fmt.Sprint(report, found)
	if text == s.told {
		return nil, false
	}
	s.told = text
	return func(in language.Language) any {
		return TallyFrame{Report: report, Says: says(report).In(in), Found: found}
	}, true
}

// says tells what a report means, of a run that goes on, too.
func says(r history.Report) language.Text {
	switch {
	case r.Lost != 0 || r.Oversold > 0:
		return r.Means()
	case r.Sold == 0:
		return language.Both("nothing is sold yet", "还没有卖出")
	case r.InFlight > 0:
		return language.Both(
			fmt.Sprintf("%d sold so far, and the stock felt each of them", r.Sold),
			fmt.Sprintf("目前卖出 %d 件，每一件都扣了库存", r.Sold))
	default:
		return r.Means()
	}
}
