package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// checkThenDelete slows a release down on its way: the lock changes hands between the look and the delete.
func checkThenDelete() Lab {
	return Lab{
		Name:  "check-then-delete",
		Claim: language.Both("a release that arrives late does not remove another's lock", "迟到的解锁不会删除别人的锁"),
		Shows: "v3", Cured: "v4",
		Cure:    language.Both("compare and delete in one script: nothing can come between", "用一个脚本完成比较和删除，中间插不进别的命令"),
		Explore: "--faults expiry=1 --anomaly foreign-release",
		Shop: Settings{
			Replicas: 2, TTL: time.Second, Wait: 10 * time.Second, Think: each(500*time.Millisecond, "r2"), Proxied: []string{"r1"},
		},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, redisproxy.IsRelease)
			first := s.Buy("r1")
			s.UntilCaught(trap, ends("r1#1"))
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
