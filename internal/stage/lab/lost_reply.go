package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// lostReply lets a sale take the lock, and never learn it.
func lostReply() Lab {
	return Lab{
		Name:  "lost-reply",
		Claim: language.Both("a lock whose reply is lost is not left behind", "加锁的响应丢失后，锁不会残留"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("who does not know whether it has the lock gives it back: the owner is known, so that is safe",
			"不确定是否加锁成功时就释放：持有者标识是已知的，所以是安全的"),
		Explore: "--faults lost-reply=1",
		Shop:    Settings{Wait: 2 * time.Second},
		Scenario: func(s *Stage) {
			first, _ := s.BuyCaught("r1", redisproxy.LoseReply, redisproxy.IsTake)
			s.Answered(first)
			s.Finish(s.Buy("r2"))
		},
		Fault: language.Both("Redis takes the lock for r1, and the reply is lost", "Redis 为 r1 加锁成功，但响应丢失"),
		Hit:   happened(witness.KindLost),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			broken("v1", "the value does not say whose the lock is, and it never expires", "值没有说明锁是谁的，而且永不过期"),
			broken("v2 setnx-expire lua-setnx getset", "the value does not say whose the lock is: it stays until it expires", "值没有说明锁是谁的：锁一直留到过期"),
			broken("v5", "it does not give back what it may have: the lock stays until it expires", "它不释放自己可能持有的锁：锁一直留到过期"),
			holds("v3 v4 late-commit", "it gives back what it may have: the value is the owner", "它释放自己可能持有的锁：值就是持有者标识"),
			holds("v6..", "it gives back what it may have", "它释放自己可能持有的锁"),
			notBehindProxy(),
			nothingToWaitFor(),
		},
	}
}

// resentCommand lets a command take the lock twice: its client got no reply, and sent it again by itself. lockstep's own clients never
// do that (internal/dao/redisclient); go-redis does unless it is told not to. Here the proxy does it in its place.
func resentCommand() Lab {
	return Lab{
		Name:  "resent-command",
		Claim: language.Both("a command that the client sends a second time, unasked, is not counted twice", "客户端自行重发的命令不会计两次"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("the outermost release removes the lock whatever Redis has counted; and clients that repeat nothing (MaxRetries: -1)",
			"最外层的解锁直接删除锁，不管 Redis 里计了几次；并且客户端不重发（MaxRetries: -1）"),
		Explore: "--faults resend=1 --anomaly idle",
		Shop:    Settings{Wait: 2 * time.Second},
		Scenario: func(s *Stage) {
			first, _ := s.BuyCaught("r1", redisproxy.Resend, redisproxy.IsTake)
			s.Answered(first)
			s.Finish(first, s.Buy("r2"))
		},
		Fault: language.Both("Redis is sent r1's command twice", "r1 的命令发给 Redis 两次"),
		Hit:   happened(witness.KindResent),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain, witness.WaitsForItself},
		Expected: []Expectation{
			broken("v1 setnx-expire", "the second is refused for the first: the sale waits for itself, and its lock never expires",
				"第二次因第一次而被拒绝：这一单等的是自己，而锁永不过期"),
			broken("v2..v4 late-commit lua-setnx getset", "the second is refused for the first: the sale waits for itself until it expires",
				"第二次因第一次而被拒绝：这一单等自己的锁，直到过期"),
			broken("v5", "it is counted twice and given back once: the lock stays until it expires", "计了两次，只释放一次：锁一直留到过期"),
			holds("v6 v7", "it is counted twice; the outermost release gives back all of it", "计了两次；最外层的解锁全部释放"),
			broken("v8", "it is counted twice and given back once: the lock stays until it expires", "计了两次，只释放一次：锁一直留到过期"),
			holds("v9..", "the second says what the first has done: the process has the lock", "第二次报告第一次的结果：进程已有锁"),
			notBehindProxy(),
			without("atomic", "it has no lock; its one command, sent twice, would sell twice", "它没有锁；它唯一的命令发两次就会卖两次"),
			without("v0 local optimistic set-expire setex", "there is no lock that could be counted twice, or refused", "没有可以计两次或被拒绝的锁"),
		},
	}
}
