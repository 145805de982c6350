package lab

import (
	"time"

	"lockstep/internal/stage/replica"
	"lockstep/internal/watch/witness"
)

// Faults of a replica, and of its way to Redis.

// Kill kills a replica: kill -9.
func (s *Stage) Kill(name string) { s.signal(name, witness.KindDies, replica.Kill) }

// Stop stops a replica: SIGSTOP. It goes on by GoOn.
func (s *Stage) Stop(name string) {
	s.stopped[name] = true
	s.signal(name, witness.KindStops, replica.Stop)
}

// GoOn lets a replica go on that was stopped: SIGCONT.
func (s *Stage) GoOn(name string) {
	delete(s.stopped, name)
	s.signal(name, witness.KindGoes, replica.GoOn)
}

// signal sends a signal to a replica's process, and notes it: the replica cannot.
func (s *Stage) signal(name string, kind witness.Kind, send func(pid int) error) {
	s.do(name+" "+string(kind), func() error {
		err := send(s.replicas[name].PID)
		if err == nil {
			s.note(name, 0, kind)
		}
		return err
	})
}

// Cut cuts a replica off from every Redis.
func (s *Stage) Cut(name string) {
	if s.err == nil {
		s.note(name, 0, witness.KindCut)
		for _, proxy := range s.proxies[name] {
			proxy.Cut()
		}
	}
}

// CutNode cuts a replica off from one node.
func (s *Stage) CutNode(name string, node int) {
	if s.err == nil {
		s.note(name, node, witness.KindCut)
		s.proxies[name][node].Cut()
	}
}

// Mend lets a replica reach Redis again.
func (s *Stage) Mend(name string) {
	if s.err == nil {
		s.note(name, 0, witness.KindMend)
		for _, proxy := range s.proxies[name] {
			proxy.Mend()
		}
	}
}

// note notes what happens to a replica, or between it and a Redis.
func (s *Stage) note(name string, node int, kind witness.Kind) {
	now := time.Now()
	s.collected.See(witness.Event{Replica: name, Kind: kind, Node: node, Sent: now, Replied: now})
}
