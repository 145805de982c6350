package engine

import (
	"slices"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// What faults do that happen to no command: clocks jump, timeouts come, wake-ups come without a message, servers fail.

// Jump is how far a clock jumps: longer than the expiry of a lock.
const Jump = 15 * time.Second

// stepClock lets the clock of a process jump. Its timers count time that passes, and do not.
func (x *Execution) stepClock(p *Process) {
	x.jumped += Jump
	p.ahead += Jump
	x.note(p, "clock jumps")
	x.ignoreClock()
}

// stepServerClock lets the clock of a server jump. Keys that were to expire by then have expired.
func (x *Execution) stepServerClock(s *simredis.Server) {
	s.Ahead += Jump
	next, err := x.Cluster.After(s, Jump)
	if err != nil {
		x.Fail(err)
		return
	}
	x.becomes(s, next, nil)
	x.ignoreClock()
}

// ignoreClock lets nobody rely on it that it is the same time as when it asked last.
func (x *Execution) ignoreClock() {
	for _, t := range x.tasks {
		t.round.at = -1
	}
}

// itsTimeout returns the first timer of a's that no time would bring, nil if there is none.
func (l *timeline) itsTimeout(a *Actor) *timer {
	i := slices.IndexFunc(l.never, func(t *timer) bool { return t.actor == a })
	if i < 0 {
		return nil
	}
	return l.never[i]
}

// Listens reports whether a process listens to anything.
func (s *subscriptions) Listens(p *Process) bool {
	return slices.ContainsFunc(s.listeners, func(l *listener) bool { return l.actor.Process == p && len(l.notify) > 0 })
}

// strikeNode lets a fault happen to a node.
func (x *Execution) strikeNode(s *simredis.Server, k Kind) {
	switch k {
	case NodeCrashes:
		s.Health = simredis.Crashed
		x.reset(s)
	case NodeHangs:
		s.Health = simredis.Hung
	case NodeRestarts:
		x.reset(s)
		x.becomes(s, x.Cluster.Empty(), nil)
	case NodeClockJumps:
		x.stepServerClock(s)
	default:
	}
}

// Restart is how long a server takes to restart.
const Restart = time.Second

// evictable reports whether Redis would evict the lock.
func (x *Execution) evictable() bool {
	if x.Cluster.OnNodes() {
		return false
	}
	k, has := x.Cluster.Locked(lock.Key)
	return has && k.TTL > 0
}

// A failover has two steps. From some command on, the replica gets nothing more: that is where the explorer chooses what will be lost.
// Later the replica takes its master's place, and what came since then is gone, although it was acknowledged. That takes no time: so the
// replica's clock is behind the master's by as long as it takes. A rollback has two steps, too: a snapshot, and a restart with it.

// failOver lets a server's replica, or its snapshot, take its place. Those who listened there connect anew: what they did not hear by then
// is lost, and they are told that they may have missed something.
func (x *Execution) failOver(s *simredis.Server) {
	x.reset(s)
	x.becomes(s, x.Cluster.Promote(s), nil)
	if s.Index > 0 {
		return // they listen to another one
	}
	for _, l := range x.listeners {
		l.messages = []string{""}
	}
}
