package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// lostUpdate makes two sales of one process at the same time.
func lostUpdate() Lab {
	return Lab{
		Name:  "lost-update",
		Claim: language.Both("what a sale has written, no other sale overwrites unread", "一单写入的内容，不会被没有读过它的另一单覆盖"),
		Shows: "v0", Cured: "v1",
		Cure:     language.Both("a lock: while a sale holds it, no other sale reads the stock", "加锁：一单持有锁时，别的单不读库存"),
		Explore:  "--anomaly lost-update",
		Shop:     Settings{Replicas: 1, TTL: 10 * time.Second, Wait: 10 * time.Second, Think: each(time.Second, "r1")},
		Scenario: whileHeld("r1"),
		Fault:    language.Both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(askedInTime("r1#2"), answered("r1#1"), answered("r1#2")),
		Signs:    []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("v0", "nothing keeps the second sale from reading what the first has not yet replaced", "没有什么阻止第二单读到第一单还没有改写的库存"),
			broken("set-expire setex", "without NX everybody gets the lock", "没有 NX，谁都能加锁成功"),
			holds("v1.. redlock setnx-expire lua-setnx getset", "the second sale waits until the first has written", "第二单等到第一单写入之后"),
			holds("local", "both sales are in one process, so its queue is enough", "两单在同一个进程里，进程内队列就够了"),
			holds("atomic", "one script reads and writes", "一个脚本完成读和写"),
			holds("optimistic", "the second write is refused, and its sale reads again", "第二次写入被拒绝，这一单重新读"),
			without("late-commit", "see commit-after-unlock", "见 commit-after-unlock"),
		},
	}
}

// lostUpdateReplicas does the same in two processes.
func lostUpdateReplicas() Lab {
	return Lab{
		Name:  "lost-update-replicas",
		Claim: language.Both("what a sale has written, no sale of another process overwrites unread", "一单写入的内容，不会被另一个进程中没有读过它的一单覆盖"),
		Shows: "local", Cured: "v1",
		Cure: language.Both("a lock in Redis, which all processes ask; a queue in one process knows nothing of the others",
			"锁放在所有进程都访问的 Redis 里；进程内的队列不知道别的进程"),
		Explore:  "--anomaly lost-update",
		Shop:     Settings{Replicas: 2, TTL: 10 * time.Second, Wait: 10 * time.Second, Think: each(time.Second, "r1", "r2")},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(askedInTime("r2#1"), answered("r1#1"), answered("r2#1")),
		Signs:    []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("local", "each process has a queue of its own", "每个进程各有一个队列"),
			broken("v0", "there is no lock", "没有锁"),
			broken("set-expire setex", "without NX everybody gets the lock", "没有 NX，谁都能加锁成功"),
			holds("v1.. redlock setnx-expire lua-setnx getset", "the second sale waits until the first has written", "第二单等到第一单写入之后"),
			holds("atomic", "one script reads and writes", "一个脚本完成读和写"),
			holds("optimistic", "the second write is refused, and its sale reads again", "第二次写入被拒绝，这一单重新读"),
			without("late-commit", "see commit-after-unlock", "见 commit-after-unlock"),
		},
	}
}
