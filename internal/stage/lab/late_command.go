package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// lateCommand lets a command take the lock when its sale has long given up.
func lateCommand() Lab {
	return Lab{
		Name:  "late-command",
		Claim: language.Both("a command that arrives when its sale has given up does not block the others for ever", "下单已放弃，命令才到达，别人也不会永远等下去"),
		Shows: "v1", Cured: "v2",
		Cure:    language.Both("an expiry in the same command: what arrives late goes by itself, too", "在同一条命令里设置过期时间：迟到的锁也会自行过期"),
		Explore: "--faults late=1 --anomaly left-behind",
		Shop:    Settings{TTL: time.Second, Wait: 5 * time.Second},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", redisproxy.Hold, redisproxy.IsTake)
			s.Answered(first) // it gives up
			s.Release(trap)
			s.UntilAnswered(trap)
			s.Finish(first, s.Buy("r2"))
		},
		Fault: language.Both("the first sale fails while its command is on the way, and then the command takes the lock",
			"第一单失败时命令还在途中，随后这条命令加锁成功"),
		Hit:   all(happened(witness.KindFreed), failed("r1#1"), refused("r2#1")),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			broken("v1", "the lock is nobody's, and never expires", "锁不属于任何人，也永不过期"),
			broken("setnx-expire", "its second command was never sent", "它的第二条命令没有发出"),
			holds("v2.. lua-setnx late-commit", "the lock that nobody has expires", "没有人持有的锁会过期"),
			holds("getset", "the value itself is the expiry", "值本身就是过期时刻"),
			notBehindProxy(),
			nothingToWaitFor(),
		},
	}
}

// checkThenDelete slows a release down on its way: the lock changes hands between the look and the delete.
func checkThenDelete() Lab {
	return Lab{
		Name:  "check-then-delete",
		Claim: language.Both("a release that arrives late does not remove another's lock", "迟到的解锁不会删除别人的锁"),
		Shows: "v3", Cured: "v4",
		Cure:    language.Both("compare and delete in one script: nothing can come between", "用一个脚本完成比较和删除，中间插不进别的命令"),
		Explore: "--faults expiry=1 --anomaly foreign-release",
		Shop:    Settings{TTL: time.Second, Think: each(500*time.Millisecond, "r2")},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", redisproxy.Hold, redisproxy.IsRelease)
			second := s.Hold("r2")
			s.Release(trap)
			s.UntilAnswered(trap)
			s.Finish(first, second)
		},
		Fault: language.Both("the release is held until another has the lock", "解锁命令被扣留，直到别人拿到锁"),
		Hit:   freedInside("r2#1"),
		Signs: []witness.FindingKind{witness.Removed},
		Expected: []Expectation{
			broken("v3", "its GET said that the lock was its own; when the DEL arrives, it is another's", "GET 时锁还是自己的；DEL 到达时已经是别人的"),
			broken("v2 lua-setnx setnx-expire", "the DEL does not ask whose the lock is", "DEL 不管锁是谁的"),
			holds("v4..v9 late-commit", "the script compares when it arrives", "脚本到达时才比较"),
			without("v1", "its lock never expires, so it never changes hands before the DEL", "它的锁永不过期，所以 DEL 之前不会易主"),
			without("v10", "a sale sends no release when nobody waits", "没有人等待时，下单不发送解锁命令"),
			notBehindProxy(),
			without("getset", "its lock changes hands by the client's clock", "它的锁按客户端的时钟易主"),
			nobodyHolds(),
		},
	}
}

// commitAfterUnlock shows a sale that writes when it has unlocked, as a transaction around the lock does.
func commitAfterUnlock() Lab {
	return Lab{
		Name:  "commit-after-unlock",
		Claim: language.Both("what was computed under the lock is written under the lock", "在锁内算出的结果，在锁内写入"),
		Shows: "late-commit", Cured: "v4",
		Cure:    language.Both("the transaction belongs inside the lock: commit, then unlock", "事务要放在锁内：先提交，再解锁"),
		Explore: "--anomaly lost-update",
		Shop:    Settings{TTL: 10 * time.Second},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", redisproxy.Hold, redisproxy.IsWrite)
			second := s.Buy("r2")
			s.Until("r2#1 to end, or to find the lock held", either(ends("r2#1"), refused("r2#1")))
			s.Release(trap)
			s.Finish(first, second)
		},
		Fault: language.Both("the write of r1 is on the way while r2 asks, and both write", "r1 的写入还在途中时 r2 来加锁，两单都写入"),
		Hit:   all(happened(witness.KindHeld), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("late-commit", "it has unlocked, so the next holder reads before it has written", "它已解锁，所以下一个持有者在它写入之前就读了库存"),
			broken("v0 local set-expire setex", "nothing keeps the other out", "没有什么阻止另一单"),
			holds("v1.. redlock setnx-expire lua-setnx getset", "it still holds the lock, so the other waits", "它仍然持有锁，所以另一单等待"),
			holds("atomic optimistic", "the write itself looks at the stock", "写入时会再看库存"),
		},
	}
}

// freedInside reports whether the command that was held went on to Redis while a sale was inside.
func freedInside(sale string) Condition {
	freed := is("", witness.KindFreed)
	return all(some(freed), before(freed, all(obtains(sale), not(moment(sale, witness.KindLeaves)))))
}
