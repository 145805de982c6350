package lab

import (
	"time"

	"lockstep/internal/language"
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
		Shop:    Settings{Replicas: 2, TTL: time.Second, Wait: 5 * time.Second, Think: each(time.Minute, "r1")},
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
