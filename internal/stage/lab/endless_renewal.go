package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// endlessRenewal lets a buyer leave and loses the release of the sale: nobody gives the lock back any more, and only its renewal could
// keep it. No step has the flaw that watchdogs are known for: a renewal that outlives its work. Work that goes on for ever keeps its lock
// from v6 on, as it should; here work ends with its request.
func endlessRenewal() Lab {
	return Lab{
		Name:  "endless-renewal",
		Claim: language.Both("a lock is not renewed any more once the work is over that it was for", "业务结束后，它的锁不再续期"),
		Cured: "v6",
		Cure: language.Both(
			"the renewal belongs to the lease: Unlock ends it first, and only then tries to release the lock; what is not released expires",
			"续期属于租约：解锁时先停止续期，再释放锁；没能释放的锁会过期"),
		Explore: "--faults lost-request=1 --anomaly goroutine-leak",
		Shop:    Settings{TTL: 1500 * time.Millisecond, Wait: 6 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", 0, redisproxy.LoseRequest, redisproxy.IsRelease)
			first := s.Hold("r1")
			second := s.Wait("r2")
			s.Until("r1 to renew its lock", renews("r1"))
			first.Leave()
			s.UntilCaught(trap, ends("r1#1"))
			s.Finish(first, second)
		},
		Fault: language.Both("r1 has renewed its lock, the buyer goes away, and the release is lost", "r1 续期之后买家离开，解锁命令丢失"),
		Hit:   all(happened(witness.KindLost), renewedInTime("r1#1")),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.RenewedOn, witness.WaitedInVain},
		Expected: []Expectation{
			holds("v6 v7", "the renewal ends before the release; then the lock expires", "先停止续期再释放；之后锁会过期"),
			holds("v8..", "there is one renewal per holding, and it ends with it", "每个持有期只有一个续期，随它结束"),
			without("v1..v5 setnx-expire lua-setnx getset late-commit", "nothing renews its lock", "没有什么给它的锁续期"),
			without("redlock", "the lab loses one release, and each node gets its own", "这个实验只丢一条解锁命令，而每个节点各收到一条"),
			nobodyHolds(),
		},
	}
}

// renewedInTime reports whether a replica renewed its lock before one of its sales ended.
func renewedInTime(sale string) Condition {
	return all(ends(sale), before(is(sale, witness.KindEnds), renews(witness.ReplicaOf(sale))))
}
