package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// lateCommand lets a command take the lock when its sale has long given up.
func lateCommand() Lab {
	return Lab{
		Name:  "late-command",
		Claim: language.Both("a command that arrives when its sale has given up does not block the others for ever", "下单已放弃，命令才到达，别人也不会永远等下去"),
		Shows: "v1", Cured: "v2",
		Cure:    language.Both("an expiry in the same command: what arrives late goes by itself, too", "在同一条命令里设置过期时间：迟到的锁也会自行过期"),
		Explore: "--faults late=1 --anomaly left-behind",
		Shop:    Settings{Replicas: 2, TTL: time.Second, Wait: 5 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, redisproxy.IsTake)
			first := s.Buy("r1")
			s.UntilCaught(trap, ends("r1#1"))
			s.Answered(first) // it gives up
			s.Release(trap)
			s.UntilAnswered(trap)
			s.Finish(first, s.Buy("r2"))
		},
		Fault: language.Both("the first sale fails while its command is on the way, and then the command takes the lock",
			"第一单失败时命令还在途中，随后这条命令加锁成功"),
		Hit:   all(happened(witness.KindFreed), failed("r1#1"), refused("r2#1")),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			broken("v1", "the lock is nobody's, and never expires", "锁不属于任何人，也永不过期"),
			broken("setnx-expire", "its second command was never sent", "它的第二条命令没有发出"),
			holds("v2.. lua-setnx late-commit", "the lock that nobody has expires", "没有人持有的锁会过期"),
			holds("getset", "the value itself is the expiry", "值本身就是过期时刻"),
			notBehindProxy(),
			nothingToWaitFor(),
		},
	}
}
