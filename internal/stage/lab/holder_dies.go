package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// holderDies kills a replica that holds the lock.
func holderDies() Lab {
	return Lab{
		Name:  "holder-dies",
		Claim: language.Both("a holder that dies does not block the others for ever", "持有者崩溃后，别人不会永远等下去"),
		Shows: "v1", Cured: "v2",
		Cure:    language.Both("an expiry in the same command: SET … EX … NX", "在同一条命令里设置过期时间：SET … EX … NX"),
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop:    Settings{TTL: time.Second, Wait: 5 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			s.Hold("r1")
			s.Kill("r1")
			s.Finish(s.Buy("r2"))
		},
		Fault: language.Both("r1 dies while its sale holds the lock", "r1 的一单持有锁时，r1 崩溃"),
		Hit:   diedWithLock("r1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			broken("v1", "nobody removes the dead holder's lock", "没有人删除崩溃的持有者的锁"),
			holds("v2.. redlock late-commit setnx-expire lua-setnx", "the lock expires; then the other gets it", "锁过期后，另一单就能拿到"),
			holds("getset", "the other finds the expiry in the past, and takes the lock over", "另一单发现锁已过期，于是接管"),
			without(noLock, "the dead holder leaves nothing that the other would wait for", "崩溃的持有者没有留下让另一单等待的东西"),
		},
	}
}

// diesBetween kills a replica between the two commands that take a lock.
func diesBetween() Lab {
	return Lab{
		Name:  "dies-between-set-and-expire",
		Claim: language.Both("a process that dies while it takes the lock leaves nothing that stays", "加锁途中崩溃的进程不会留下永久的锁"),
		Shows: "setnx-expire", Cured: "lua-setnx",
		Cure:    language.Both("both commands in one script; or SET … NX EX, as v2 does", "两条命令放进一个脚本；或者像 v2 那样用 SET … NX EX"),
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop:    Settings{TTL: time.Second, Wait: 5 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", 0, redisproxy.Hold, redisproxy.IsExpiry)
			s.Buy("r1")
			s.UntilCaught(trap, obtains("r1#1"))
			s.Until("r1#1 to take the lock", either(does("r1#1", witness.Takes, witness.Done), obtains("r1#1")))
			s.Kill("r1")
			trap.Drop()
			s.Finish(s.Buy("r2"))
		},
		Fault: language.Both("r1 dies while it takes the lock, or right after", "r1 在加锁途中或刚加锁后崩溃"),
		Hit:   diedWithLock("r1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			broken("setnx-expire", "the lock is there, and its expiry is not yet", "锁已经有了，过期时间还没有"),
			broken("v1", "its lock never has an expiry", "它的锁没有过期时间"),
			holds("lua-setnx v2.. redlock late-commit", "there is no moment between the two", "两者之间没有空隙"),
			holds("getset", "the value itself is the expiry", "值本身就是过期时刻"),
			without(noLock, "the dead holder leaves nothing that the other would wait for", "崩溃的持有者没有留下让另一单等待的东西"),
		},
	}
}

// diedWithLock reports whether a replica died when one of its sales had taken the lock.
func diedWithLock(replica string) Condition {
	dies := is(replica, witness.KindDies)
	return all(some(dies), before(dies, either(obtains(replica), does(replica, witness.Takes, witness.Done))))
}
