package lab

import (
	"cmp"
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// Faults of a replica, and of its way to Redis.

// Kill kills a replica.
func (s *Stage) Kill(name string) { s.signal(name, witness.KindDies, s.replicas.Kill) }

// Stop stops a replica. It goes on by Resume, or ends with the stage.
func (s *Stage) Stop(name string) { s.signal(name, witness.KindStops, s.replicas.Stop) }

// Resume lets a replica go on that was stopped.
func (s *Stage) Resume(name string) { s.signal(name, witness.KindGoes, s.replicas.Resume) }

func (s *Stage) signal(name string, kind witness.Kind, send func(name string) error) {
	s.hit(name, 0, kind, func() error { return send(name) })
}

// Cut cuts a replica off from every Redis.
func (s *Stage) Cut(name string) {
	s.way(name, 0, witness.KindCut, s.proxies[name], (*redisproxy.Proxy).Cut)
}

// CutNode cuts a replica off from one node.
func (s *Stage) CutNode(name string, node int) {
	s.way(name, node, witness.KindCut, s.proxies[name][node:node+1], (*redisproxy.Proxy).Cut)
}

// Mend lets a replica reach Redis again.
func (s *Stage) Mend(name string) {
	s.way(name, 0, witness.KindMend, s.proxies[name], (*redisproxy.Proxy).Mend)
}

// way does something to the way from a replica to a Redis.
func (s *Stage) way(name string, node int, kind witness.Kind, proxies []*redisproxy.Proxy, do func(*redisproxy.Proxy)) {
	s.hit(name, node, kind, func() error {
		for _, proxy := range proxies {
			do(proxy)
		}
		return nil
	})
}

// hit does something to a replica, or, with "", to a Redis, and notes it: whoever is hit cannot.
func (s *Stage) hit(name string, node int, kind witness.Kind, do func() error) {
	s.do(cmp.Or(name, "a Redis that")+" "+string(kind), func() error {
		at := time.Now() // what comes to a Redis after that is not lost
		err := do()
		if err == nil {
			s.note(at, name, node, kind)
		}
		return err
	})
}

// note notes what happens to a replica, or between it and a Redis.
func (s *Stage) note(at time.Time, name string, node int, kind witness.Kind) {
	s.collected.Record(witness.Event{Replica: name, Kind: kind, Node: node, Sent: at, Replied: at})
}
