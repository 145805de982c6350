package lab

// failover kills a master before its replica has heard of the lock. Redlock has no replicas: of its masters, one dies.
func failover(s *Stage) {
	die := s.Redis.FailOver
	if s.onNodes {
		die = func() { s.Redis.Crash(1) }
	} else {
		s.Redis.Lag()
	}
	first := s.Work("r1")
	die()
	s.Finish(s.Buy("r2"), first)
}

// emptyRestartedNode restarts a Redis without its content while the lock is held: one of the three nodes that make up redlock's
// majority, or the one Redis that the other locks are on.
func emptyRestartedNode(s *Stage) {
	const forgets, unreached, unreachedToo = 3, 4, 5
	if s.onNodes {
		s.CutNode("r1", unreached)
		s.CutNode("r1", unreachedToo)
	}
	first := s.Work("r1")
	s.Redis.Restart(s.lockOn(forgets))
	s.Finish(s.Buy("r2"), first)
}
