package lab

import "lockstep/internal/stage/redisproxy"

// Pass watches for a command between a replica and Redis, and lets it pass. UntilAnswered waits for it.
func (s *Stage) Pass(replica string, matches func(args []string) bool) *redisproxy.Trap {
	trap := s.Catch(replica, redisproxy.Hold, matches)
	trap.Release()
	return trap
}
