package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// pollingStorm lets a sale wait for the lock while another process holds it.
func pollingStorm() Lab {
	return Lab{
		Name:  "polling-storm",
		Claim: language.Both("a sale that waits does not ask Redis again and again", "等待的一单不会反复询问 Redis"),
		Shows: "v8", Cured: "v9",
		Cure: language.Both("a queue of processes in Redis: whoever releases hands the lock to the first, and tells it by a message",
			"Redis 里的进程队列：释放者把锁移交给队首，并发消息通知它"),
		Shop:     Settings{Replicas: 2, TTL: 10 * time.Second, Wait: 10 * time.Second, Think: each(2*time.Second, "r1")},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(askedInTime("r2#1"), answered("r1#1"), answered("r2#1")),
		Signs:    []witness.FindingKind{witness.Polled},
		Expected: []Expectation{
			broken("v1..v8 setnx-expire lua-setnx getset late-commit", "it asks every 20ms", "它每 20 毫秒询问一次"),
			holds("v9..", "it asks for a place in the queue, and is told when it is its turn", "它在队列里占一个位置，轮到时会收到通知"),
			broken("redlock", "it asks all nodes again every 10 to 20ms", "它每 10 到 20 毫秒再次询问所有节点"),
			nobodyWaits(),
		},
	}
}
