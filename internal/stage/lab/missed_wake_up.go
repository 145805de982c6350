package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// deaf is the expiry of a lock whose hand-over nobody hears.
const deaf = 4 * time.Second

// missedWakeUp hands the lock over while the message that says so is lost.
func missedWakeUp() Lab {
	return Lab{
		Name:  "missed-wake-up",
		Claim: language.Both("a waiter whose message is lost goes on within a quarter of the expiry", "通知丢失的等待者，在四分之一个过期时间内继续"),
		Cured: "v9",
		Cure: language.Both("a message only saves time: who waits asks again every quarter of the expiry, and then finds that it holds the lock",
			"通知只是省时间：等待者每隔四分之一过期时间再问一次，就会发现自己已持有锁"),
		Explore: "--faults lost-wake=1",
		Shop:    Settings{TTL: deaf, Wait: 2 * deaf, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			trap := s.Catch("r2", 0, redisproxy.LoseMessage, redisproxy.IsTurn)
			hears := s.Pass("r2", 0, redisproxy.IsSubscription)
			asksAgain := s.Pass("r2", 0, redisproxy.After(2, redisproxy.IsTake)) // it asks once more when it hears
			first := s.Hold("r1")
			second := s.Buy("r2")
			s.UntilAnswered(hears)
			s.UntilAnswered(asksAgain)
			first.Leave()
			s.UntilCaught(trap, ends("r2#1"))
			s.Finish(first, second)
		},
		Fault:  language.Both("r1 hands the lock to r2, and the message is lost", "r1 把锁移交给 r2，通知丢失"),
		Hit:    all(happened(witness.KindMessageLost), askedInTime("r2#1")),
		Proof:  sold("r2#1"),
		Signs:  []witness.FindingKind{witness.WaitedInVain, witness.Idle},
		Blames: idleFor(deaf/4 + busy),
		Expected: []Expectation{
			holds("v9..", "it asks again after a quarter of the expiry", "过四分之一个过期时间后它会再问"),
			without("v1..v8 redlock setnx-expire lua-setnx getset late-commit", "nobody is told: who waits asks again and again", "没有通知：等待者反复询问"),
			nobodyWaits(),
		},
	}
}
