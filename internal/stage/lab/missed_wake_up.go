package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
)

// missedWakeUp hands the lock over while the message that says so is lost.
func missedWakeUp(s *Stage) {
	trap := s.Catch("r2", 0, redisproxy.LoseMessage, redisproxy.IsTurn)
	hears := s.Pass("r2", 0, redisproxy.IsSubscription)
	asksAgain := s.Pass("r2", 0, redisproxy.After(2, redisproxy.IsTake)) // it asks once more when it hears
	first := s.Hold("r1")
	second := s.Buy("r2")
	s.UntilAnswered(hears)
	s.UntilAnswered(asksAgain)
	first.Leave()
	s.UntilCaught(trap, ended("r2#1"))
	s.Finish(first, second)
}

// deaf is the expiry of a lock whose hand-over nobody hears.
const deaf = 4 * time.Second
