package execution

import (
	"time"

	"lockstep/internal/explore/simredis"
)

// Jump is how far a clock jumps: longer than the expiry of a lock.
const Jump = 15 * time.Second

// addJumps adds that clocks jump: of a process, and of the server that keeps the lock, if one of its keys is to expire.
func (m *menu) addJumps() {
	for i, p := range m.processes {
		if p.begun() && !p.ended() && !p.dead {
			m.add(ClockJumps, i)
		}
	}
	if !m.Cluster.OnNodes() && m.Cluster.Servers()[0].Expires() {
		m.add(RedisClockJumps, 0)
	}
}

// clockJumps lets the clock of a process jump. Its timers count time that passes, and do not.
func (x *Execution) clockJumps(p *Process) {
	x.jumped += Jump
	p.ahead += Jump
	x.note(p, "clock jumps")
	x.distrustTime()
}

// serverJumps lets the clock of a server jump. Keys that were to expire by then have expired.
func (x *Execution) serverJumps(s *simredis.Server) {
	s.Ahead += Jump
	next, err := x.Cluster.After(s, Jump)
	if err != nil {
		x.Fail(err)
		return
	}
	x.becomes(s, next)
	x.distrustTime()
}

// distrustTime lets nobody rely on it that it is the same time as when it asked last.
func (x *Execution) distrustTime() {
	for _, t := range x.tasks {
		t.round.at = -1
	}
}
