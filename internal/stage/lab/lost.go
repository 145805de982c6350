package lab

// olderSnapshot restarts Redis with a snapshot that it made before the first sale.
func olderSnapshot(s *Stage) {
	s.Save()
	first := s.Work("r1")
	s.RollBack()
	s.Finish(s.Buy("r2"), first)
}

// eviction lets Redis run out of memory while the lock is held: of the nodes of redlock, one.
func eviction(s *Stage) {
	first := s.Work("r1")
	s.Evict(s.lockOn(1))
	s.Finish(s.Buy("r2"), first)
}
