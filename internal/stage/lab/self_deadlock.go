package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// selfDeadlock makes a nested call that takes the lock its caller has.
func selfDeadlock() Lab {
	return Lab{
		Name:  "self-deadlock",
		Claim: language.Both("a nested call gets the lock that its caller holds", "嵌套调用可以得到外层调用已持有的锁"),
		Shows: "v4", Cured: "v5",
		Cure:     language.Both("a hash of owner and count: whoever holds the lock may take it once more", "用哈希记录持有者和次数：锁的持有者可以再次加锁"),
		Explore:  "--nested 1",
		Shop:     Settings{Replicas: 1, TTL: time.Minute, Wait: time.Second, Nested: 1},
		Scenario: func(s *Stage) { s.Finish(s.Buy("r1")) },
		Fault:    language.Both("a sale makes a nested call", "一单发起嵌套调用"),
		Hit:      atLeast(2, "r1#1", witness.KindAsks),
		Proof:    sold("r1#1"),
		Signs:    []witness.FindingKind{witness.WaitsForItself},
		Expected: []Expectation{
			broken("v1..v4 late-commit setnx-expire lua-setnx getset", "the nested call finds the lock held, and waits: for its own caller",
				"嵌套调用发现锁被占用，于是等待：等的是自己的外层调用"),
			broken("local", "the nested call stands in the queue behind its own caller", "嵌套调用在队列里排在自己的外层调用后面"),
			holds("v5..v7", "the nested call has the same owner, and is counted", "嵌套调用的持有者标识相同，只增加次数"),
			holds("v8.. redlock", "the process knows that the owner has the lock", "进程知道这个持有者已有锁"),
			holds("v0 atomic optimistic set-expire setex", "nobody ever waits", "谁都不需要等待"),
		},
	}
}
