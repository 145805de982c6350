package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// partition cuts a replica off from every Redis while its sale holds the lock, for longer than the lock lasts.
func partition() Lab {
	return Lab{
		Name: "partition",
		Claim: language.Both("a holder that was cut off past the expiry of its lock writes nothing when it reaches Redis again",
			"断网超过锁的过期时间的持有者，重新连上 Redis 后写不进去"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("one expiry after it last heard of its lock, a holder is told that the lock is lost, and its work is cancelled",
			"持有者最近一次得知锁有效之后过了一个过期时间，就得知锁已丢失，业务被取消"),
		Explore: "--work 15s --faults lost-request=1 --anomaly lost-update",
		Shop:    Settings{TTL: 1500 * time.Millisecond, Wait: 15 * time.Second, Think: each(6*time.Second, "r1")},
		Scenario: func(s *Stage) {
			first := s.Work("r1")
			s.Cut("r1")
			s.Finish(s.Buy("r2"))
			s.Mend("r1")
			s.Finish(first)
		},
		Fault: language.Both(
			"r1 is cut off while its sale holds the lock, the other sells, and r1 reaches Redis before its write, or is told first",
			"r1 的一单持有锁时断网，另一单卖出，r1 在写入之前重新连上 Redis，或先得知丢了锁"),
		Hit:   all(happened(witness.KindCut), happened(witness.KindMend), answered("r2#1"), either(answered("r1#1"), firstIsTold())),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("v2..v5 late-commit setnx-expire lua-setnx getset", "nobody tells the holder, and the store takes a write from anybody",
				"没有人告诉持有者，而存储接受任何人的写入"),
			holds("v6..", "the holder knows when its lock can have expired, and stops", "持有者知道锁何时可能已过期，并停止执行"),
			holds("redlock", "the holder knows for how long a majority's word is valid, and stops", "持有者知道多数派的答复多久有效，到时停止"),
			neverExpires(),
			keepsNobodyOut(),
		},
	}
}

// renewalOutage cuts a holder off from Redis, so that it cannot renew its lock.
func renewalOutage() Lab {
	return Lab{
		Name:  "renewal-outage",
		Claim: language.Both("a holder that Redis no longer hears stops before another gets the lock", "与 Redis 失联的持有者，在别人拿到锁之前停止执行"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("a holder counts from when it last asked for a renewal; one expiry later the lock is lost, and the work is cancelled",
			"持有者从上一次发出续期请求时算起；过了一个过期时间就视为失去锁，并取消业务"),
		Explore: "--work 15s --anomaly untold",
		Shop:    Settings{TTL: 1500 * time.Millisecond, Wait: 15 * time.Second, Think: map[string]time.Duration{"r1": time.Minute, "r2": time.Second}},
		Scenario: func(s *Stage) {
			s.Work("r1")
			s.Cut("r1")
			s.Finish(s.Buy("r2"))
		},
		Fault:  language.Both("r1 is cut off from Redis while its sale holds the lock, and the other sells", "r1 的一单持有锁时与 Redis 断开，另一单卖出"),
		Hit:    all(happened(witness.KindCut), answered("r2#1")),
		Proof:  firstIsTold(),
		Signs:  []witness.FindingKind{witness.Together},
		Blames: lastsFor(noticed),
		Expected: []Expectation{
			broken("v2..v5 setnx-expire lua-setnx getset late-commit", "the holder never learns that its lock has expired", "持有者不会得知自己的锁已过期"),
			holds("v6..", "the holder knows when its lock can have expired, and stops", "持有者知道锁何时可能已过期，并停止执行"),
			neverExpires(),
			holds("redlock", "the holder knows for how long a majority's word is valid, and stops", "持有者知道多数派的答复多久有效，到时停止"),
			keepsNobodyOut(),
		},
	}
}
