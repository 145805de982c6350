package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// overdueWork gives a sale work that takes longer than the lock lasts.
func overdueWork() Lab {
	return Lab{
		Name:  "overdue-work",
		Claim: language.Both("whoever works for longer than the expiry keeps its lock", "业务执行得比过期时间长，锁仍然是自己的"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("renewal: a goroutine sets the expiry again every third of it, as long as the work goes on",
			"续期：只要业务还在执行，就有一个 goroutine 每隔三分之一过期时间重设一次过期时间"),
		Explore: "--faults expiry=1 --anomaly two-holders",
		Shop: Settings{
			Replicas: 2, TTL: 2 * time.Second, Wait: 10 * time.Second,
			Think: map[string]time.Duration{"r1": 5 * time.Second, "r2": time.Second},
		},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale asks while the first is at work", "第一单执行期间，第二单来加锁"),
		Hit:      askedInTime("r2#1"),
		Proof:    all(sold("r1#1"), keptOutFor(2*time.Second, "r2#1")),
		Signs:    []witness.FindingKind{witness.Together, witness.Told},
		Expected: []Expectation{
			broken("v2..v5 late-commit setnx-expire lua-setnx getset", "the lock expires after 2s, and the work takes 5s", "锁 2 秒后过期，业务要执行 5 秒"),
			broken("set-expire setex", "everybody gets the lock at any time", "任何时候谁都能加锁成功"),
			broken("local", "the other process has a queue of its own", "另一个进程有自己的队列"),
			holds("v1", "its lock never expires", "它的锁永不过期"),
			holds("v6.. redlock", "the holder renews its lock", "持有者给锁续期"),
			without("v0 atomic optimistic", "there is no lock", "没有锁"),
		},
	}
}
