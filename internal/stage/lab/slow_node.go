package lab

import (
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// slowNode keeps the command for the lock from a Redis: one of redlock's nodes, or the one Redis that the other locks are on.
func slowNode(s *Stage) {
	node := s.lockOn(1)
	trap := s.Catch("r1", node, redisproxy.Hold, redisproxy.IsTake)
	only := s.Buy("r1")
	s.UntilCaught(trap, ended("r1#1"))
	s.Finish(only)
	s.Release(trap)
	s.UntilAnswered(trap)
	if s.onNodes {
		removes := commands("r1#1", witness.Removes, "")
		s.Until("the late node to be given back", some(func(e witness.Event) bool { return e.Node == node && removes(e) }))
	}
}
