package explore

import (
	"time"

	"lockstep/internal/lock"
)

// server is one Redis. The first keeps the stock, and the lock too, unless that is on nodes of its own: those that follow.
type server struct {
	index  int
	holds  *state
	health health
	holder int // index of the actor whose lock it holds, -1: nobody's
	heir   int // index of the one who wrote over the lock of somebody inside, and may believe that it is his; -1: nobody
}

type health uint8

const (
	well health = iota
	hung        // it does what it is told, but does not answer
	crashed
)

// stored is what the Redis with the stock holds.
func (w *world) stored() *state { return w.servers[0].holds }

// keepers are the servers that the lock is on.
func (w *world) keepers() []*server {
	if len(w.servers) > 1 {
		return w.servers[1:]
	}
	return w.servers
}

// nextExpiry is the time until the first key expires, 0 if none will.
func (w *world) nextExpiry() time.Duration {
	var next time.Duration
	for _, s := range w.servers {
		if expiry := s.holds.nextExpiry(); expiry > 0 && (next == 0 || expiry < next) {
			next = expiry
		}
	}
	return next
}

// locks is what the keepers hold.
func (w *world) locks() []*state { return w.contents()[len(w.servers)-len(w.keepers()):] }

// held is what the lock's key is; of several, the first.
func held(keepers []*state) (entry, bool) {
	for _, s := range keepers {
		if e, has := s.key(lock.Key); has {
			return e, true
		}
	}
	return entry{}, false
}

// contents is what all of them hold.
func (w *world) contents() []*state {
	var all []*state
	for _, s := range w.servers {
		all = append(all, s.holds)
	}
	return all
}

// unchanged reports whether they hold what they held before, expiries aside.
func (w *world) unchanged(before []*state) bool {
	for i, s := range w.servers {
		if s.holds.content != before[i].content {
			return false
		}
	}
	return true
}
