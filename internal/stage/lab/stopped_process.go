package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// stoppedProcess stops a holder past the expiry of its lock, at its work: its write is not yet sent. What the lock can do
// here it cannot do in paused-writer, where the write is on its way.
func stoppedProcess() Lab {
	const work = 5 * time.Second
	return Lab{
		Name:  "stopped-process",
		Claim: language.Both("a process that was stopped past the expiry of its lock is told before it writes", "暂停超过锁的过期时间的进程，写入之前得知丢了锁"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("a timer at the expiry: it is overdue when the process goes on, and cancels the work",
			"在过期时刻设定时器：进程恢复时它已到期，于是取消业务"),
		Explore: "--faults pause=1 --anomaly untold",
		Unix:    true,
		Shop:    Settings{TTL: time.Second, Wait: 20 * time.Second, Think: each(work, "r1")},
		Scenario: func(s *Stage) {
			first := s.Work("r1")
			s.Stop("r1")
			s.Finish(s.Buy("r2"))
			s.GoOn("r1")
			s.Finish(first)
		},
		Fault: language.Both("r1 is stopped at its work, the other sells, and r1 goes on before its work is done",
			"r1 在执行中被暂停，另一单卖出，r1 在业务结束前恢复"),
		Hit:   all(happened(witness.KindStops), answered("r2#1"), within(work-time.Second, is("r1#1", witness.KindObtains), is("r1", witness.KindGoes))),
		Proof: either(firstIsTold(), answered("r1#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("v2..v5 setnx-expire lua-setnx getset late-commit", "nobody tells it, and it writes over the other's update",
				"没有人告诉它，它覆盖了另一单的更新"),
			broken("v0 local set-expire setex", "nothing keeps the other out", "没有什么阻止另一单"),
			holds("v6", "it is told as soon as it goes on; only a write that is on its way would arrive: see paused-writer",
				"它一恢复就得知；只有已在途中的写入会到达：见 paused-writer"),
			holds("v7..", "it is told as soon as it goes on; and if it wrote, the store would refuse its token", "它一恢复就得知；即使写入，存储也会拒绝它的令牌"),
			holds("redlock", "it is told as soon as it goes on; it has no token, should it write: see paused-writer",
				"它一恢复就得知；但如果写入，它没有令牌：见 paused-writer"),
			holds("optimistic", "its write is refused, and it reads again", "它的写入被拒绝，于是重新读"),
			without("atomic", "it reads and writes in one step, so it cannot be stopped between", "它一步完成读和写，所以中间不会被暂停"),
			neverExpires(),
		},
	}
}

// pausedWriter stops a holder, with its write on the way, until another has sold.
func pausedWriter() Lab {
	return Lab{
		Name:  "paused-writer",
		Claim: language.Both("a holder that was stopped past the expiry of its lock writes nothing", "暂停超过锁的过期时间的持有者，恢复后写不进去"),
		Shows: "v6", Cured: "v7",
		Cure:    language.Both("a fencing token: the store refuses a write with a smaller one than it has seen", "隔离令牌：存储拒绝令牌小于已见过最大值的写入"),
		Explore: "--faults pause=1,expiry=1 --anomaly lost-update",
		Unix:    true,
		Shop:    Settings{TTL: time.Second},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", redisproxy.Hold, redisproxy.IsWrite)
			s.Stop("r1")
			s.Finish(s.Buy("r2"))
			s.Release(trap)
			s.GoOn("r1")
			s.Finish(first)
		},
		Fault: language.Both("r1 is stopped while its write is on the way, the other sells, and then the write arrives",
			"r1 的写入还在途中时被暂停，另一单卖出，然后写入到达"),
		Hit:   all(happened(witness.KindStops), answered("r2#1"), answered("r1#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("v2..v6 setnx-expire lua-setnx", "a stopped process renews nothing, and the store takes a write from anybody",
				"暂停的进程不续期，而存储接受任何人的写入"),
			broken("redlock", "it has no fencing token", "它没有隔离令牌"),
			broken("v0 local set-expire setex", "nothing keeps the other out", "没有什么阻止另一单"),
			holds("v7..", "the store has seen the next holder's token, and refuses the old one", "存储见过下一个持有者的令牌，拒绝旧的"),
			holds("atomic optimistic", "the write itself looks at the stock", "写入时会再看库存"),
			neverExpires(),
			without("getset", "its lock changes hands by the client's clock", "它的锁按客户端的时钟易主"),
			without("late-commit", "it has unlocked by then: see commit-after-unlock", "这时它已解锁：见 commit-after-unlock"),
		},
	}
}
