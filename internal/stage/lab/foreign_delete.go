package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// foreignDelete lets a holder work for longer than its lock lasts, and then delete the next one's.
func foreignDelete() Lab {
	return Lab{
		Name:  "foreign-delete",
		Claim: language.Both("nobody removes a lock that is another's", "谁也不会删除别人的锁"),
		Shows: "v2", Cured: "v3",
		Cure:     language.Both("the value is the owner: look whose the lock is before deleting it", "值是持有者标识：删除之前先看锁是谁的"),
		Explore:  "--faults expiry=1 --anomaly foreign-release",
		Shop:     Settings{Replicas: 2, TTL: 2 * time.Second, Wait: 10 * time.Second, Think: each(3*time.Second, "r1", "r2")},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale asks while the first is at work", "第一单执行期间，第二单来加锁"),
		Hit:      askedInTime("r2#1"),
		Proof:    sold("r2#1"),
		Signs:    []witness.FindingKind{witness.Removed},
		Expected: []Expectation{
			broken("v2 lua-setnx setnx-expire", "DEL deletes the lock, whosever it is by now", "DEL 直接删除锁，不管这时锁是谁的"),
			broken("getset", "no owner, so the first deletes what the second took over", "没有持有者标识，所以第一单删除了第二单接管的锁"),
			holds("v1", "a lock that never expires is never another's", "永不过期的锁不会变成别人的"),
			holds("v3..v5", "the first finds that the lock is another's, and leaves it alone", "第一单发现锁是别人的，就不动它"),
			holds("late-commit", "v4's lock", "用的是 v4 的锁"),
			holds("v6.. redlock", "the first renews its lock, so the second waits", "第一单给锁续期，所以第二单等待"),
			notInRedis(),
			without("set-expire setex", "everybody gets the lock at any time", "任何时候谁都能加锁成功"),
		},
	}
}
