package judge

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/language"
	"lockstep/internal/service/reason"
)

// symptomTexts returns the sentence of each symptom. Each is a format for the arguments that the comment on the symptom lists.
func symptomTexts() [symptomCount]language.Text {
	both := language.Both
	return [...]language.Text{
		TwoEntered:            both("%s are both in the critical section", "%s 同时在临界区里"),
		SeveralEntered:        both("%s are all in the critical section", "%s 同时在临界区里"),
		ForeignRemoval:        both("%s removes %s's lock", "%s 删除了 %s 的锁"),
		ForeignExpiry:         both("%s gives %s's lock an expiry", "%s 给 %s 的锁加上了过期时间"),
		ForeignShortening:     both("%s shortens %s's lock", "%s 缩短了 %s 的锁的过期时间"),
		ForeignRenewal:        both("%s extends %s's lock", "%s 给 %s 的锁续期"),
		ForeignOverwrite:      both("%s overwrites %s's lock", "%s 覆盖了 %s 的锁"),
		UnlockHidesLoss:       both("%s's Unlock reports success, but the lock was already lost", "%s 的 Unlock 报告成功，其实锁早已丢失"),
		UnlockLeavesLock:      both("%s's Unlock reports success, but has only shortened the lock's expiry", "%s 的 Unlock 报告成功，其实只缩短了锁的过期时间"),
		UnlockDeniesHolding:   both("%s's Unlock reports %q, but the lock was held to the end", "%s 的 Unlock 报错“%s”，其实它一直持有锁"),
		FalseLossNotice:       both("%s is told that it lost the lock, but still holds it", "%s 被告知锁丢失，其实它仍持有锁"),
		FalseCancellation:     both("%s is told that its client went away, but the client did not", "%s 被告知客户端已断开，其实没有断开"),
		FalseRefusal:          both("%s is told that another sale holds the lock, but none does", "%s 被告知锁被别人持有，其实没有谁持有锁"),
		SaleFails:             both("%s fails although nothing went wrong: %s", "没有任何故障，%s 却失败了：%s"),
		LockOutlivesHolder:    both("%s is dead, and its lock stays for %v", "%s 已崩溃，它的锁还要残留 %v"),
		LockStaysForever:      both("the lock stays forever, and nobody holds it", "锁永远残留，没有谁持有它"),
		GoroutineOutlivesSale: both("%s's sale has ended, but its goroutine %s has not", "%s 这一单已经结束，它的 goroutine %s 还在运行"),
		TimerOutlivesSale:     both("%s's sale has ended, but a timer that it set is pending or running", "%s 这一单已经结束，它设置的一个定时器还没有停止"),
		SoldTwice:             both("%s is sold again: stock %d -> %d", "%s 又卖出一次：库存 %d → %d"),
		StaleWrite: both("%s writes %d, having read %d, but the stock was %s by then: an update is lost",
			"%s 读到 %[3]d，写入 %[2]d，而库存那时已是 %[4]s：丢失一单的更新"),
		WorksWithoutLock: both("%s kept working without the lock, and nothing told it", "%s 的锁丢失后还在继续执行，自己并不知情"),
		IgnoresOtherCause: both("%s kept working without the lock: its context has ended with the cause %q, not with lock.ErrLost",
			"%s 的锁丢失后还在继续执行：它的 context 结束了，但原因是“%s”，不是 lock.ErrLost"),
		TokenNotLarger:        both("a holder has token %d, and a later holder %d", "一个持有者的令牌是 %d，后来的持有者却是 %d"),
		NestedTokenDiffers:    both("%s's nested call has token %d, and its outer one %d", "%s 的嵌套调用的令牌是 %d，外层的却是 %d"),
		SaleOvertaken:         both("%s is overtaken %d times by sales that asked after it", "%s 被后来的请求插队 %d 次"),
		SaleBlockedForever:    both("%s can never go on", "%s 再也无法继续"),
		WaitsForItself:        both("%s waits for a lock that it holds itself", "%s 在等自己持有的锁"),
		WaitsForOwnExpiry:     both("%s waits for a lock that it holds itself, until the lock expires", "%s 在等自己持有的锁，要等到锁过期"),
		WaitsForForeignExpiry: both("no live sale holds the lock, and %s waits until it expires", "没有存活的一单持有锁，%s 只能等锁过期"),
		UnattributedOverwrite: both("%s changes %s's lock from %q to %q, and neither says whose it is",
			"%s 把 %s 的锁从 %q 改成 %q，两个值都看不出锁归谁"),
	}
}

// In returns the sentence about the detection in a language. A fencing token that is a time is shown relative to the start.
func (d Detection) In(in language.Language) string {
	values := slices.Clone(d.Values)
	for i, value := range values {
		switch value := value.(type) {
		case error:
			values[i] = reason.ShortText(in, value)
		case []string:
			values[i] = Enumeration(value, in)
		}
	}
	return simredis.RelativeTimes(fmt.Sprintf(symptomTexts()[d.Symptom].In(in), values...))
}

// Enumeration joins one or more names in a sentence, as in "A, B and C".
func Enumeration(names []string, in language.Language) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return in.Say("%s and %s", "%s 和 %s", strings.Join(names[:last], in.Say(", ", "、")), names[last])
}
