package lab

import (
	"time"

	"lockstep/internal/language"
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
		Shop:    Settings{Replicas: 2, TTL: time.Second, Wait: 20 * time.Second, Think: each(work, "r1")},
		Scenario: func(s *Stage) {
			first := s.Work("r1")
			s.Stop("r1")
			s.Finish(s.Buy("r2"))
			s.GoOn("r1")
			s.Finish(first)
		},
		Fault: language.Both("r1 is stopped at its work, the other sells, and r1 goes on before its work is done",
			"r1 在执行中被暂停，另一单卖出，r1 在业务结束前恢复"),
		Hit:   all(happened(witness.KindStops), answered("r2#1"), wentOnWithin(work-time.Second)),
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
