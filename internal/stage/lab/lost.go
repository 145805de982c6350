package lab

// olderSnapshot restarts Redis with a snapshot that it made before the first sale.
func olderSnapshot(s *Stage) {
	s.Redis.Save()
	first := s.Work("r1")
	s.Redis.RollBack()
	s.Finish(s.Buy("r2"), first)
}

// eviction lets Redis run out of memory while the lock is held: of the nodes of redlock, one.
func eviction(s *Stage) {
	first := s.Work("r1")
	s.Redis.Evict(s.lockOn(1))
	s.Finish(s.Buy("r2"), first)
}
