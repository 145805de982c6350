package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// pausedWriter stops a holder, with its write on the way, until another has sold.
func pausedWriter() Lab {
	return Lab{
		Name:  "paused-writer",
		Claim: language.Both("a holder that was stopped past the expiry of its lock writes nothing", "暂停超过锁的过期时间的持有者，恢复后写不进去"),
		Shows: "v6", Cured: "v7",
		Cure:    language.Both("a fencing token: the store refuses a write with a smaller one than it has seen", "隔离令牌：存储拒绝令牌小于已见过最大值的写入"),
		Explore: "--faults pause=1,expiry=1 --anomaly lost-update",
		Unix:    true,
		Shop:    Settings{Replicas: 2, TTL: time.Second, Wait: 10 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, redisproxy.IsWrite)
			first := s.Buy("r1")
			s.UntilCaught(trap, ends("r1#1"))
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
