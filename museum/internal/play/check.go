package play

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/simredis"
	"lockstep/museum/internal/server"
)

// Leaked is what Play's caller says of a run that leaked.
const Leaked = "a goroutine is left when all clients are closed"

// Check says what the last step has shown. It may let time pass to make sure, so nothing can follow it.
func (r *Run) Check() ([]anomaly.Found, error) {
	var found []anomaly.Found
	show := func(a anomaly.Anomaly, says string) {
		if says != "" {
			found = append(found, anomaly.Found{Anomaly: a, Says: says})
		}
	}
	show(anomaly.TwoHolders, r.twoHolders())
	show(anomaly.ForeignRelease, r.foreign)
	left, err := r.leftBehind()
	if err != nil {
		return nil, err
	}
	show(anomaly.LeftBehind, left)
	if left == "" {
		stuck, err := r.stuck()
		if err != nil {
			return nil, err
		}
		show(anomaly.Stuck, stuck)
	}
	return found, nil
}

// twoHolders says which actors believe at the same time that they hold the lock.
func (r *Run) twoHolders() string {
	var holders []string
	for _, a := range r.actors {
		if a.believes() {
			holders = append(holders, a.name)
		}
	}
	if len(holders) < 2 {
		return ""
	}
	return strings.Join(holders, " and ") + " are both inside"
}

// watch notes when a command of one process changes a lock that another holds.
func (r *Run) watch(by string, before, after []*simredis.State) {
	for node := range before {
		was, had := before[node].Key(r.library.Key)
		is, has := after[node].Key(r.library.Key)
		owner := ownerOf(was)
		if !had || owner == "" || owner == by || has && slices.Equal(was.Values, is.Values) && is.TTL == was.TTL {
			continue
		}
		if slices.ContainsFunc(r.process(owner).actors, (*actor).believes) {
			r.foreign = fmt.Sprintf("%s changes the lock of %s", by, owner)
		}
	}
}

// ownerOf is the process whose value a key has: the values are named after it.
func ownerOf(key simredis.Key) string {
	if len(key.Values) == 0 {
		return ""
	}
	return strings.TrimRight(key.Values[0], "0123456789")
}

// owner is the process whose lock is on a majority of the nodes, and until when.
func (r *Run) owner() (name string, until time.Duration) {
	count := map[string]int{}
	for _, state := range r.server.Holds() {
		if key, has := state.Key(r.library.Key); has {
			count[key.Values[0]]++
			if count[key.Values[0]] > r.library.Nodes/2 {
				name, until = ownerOf(key), key.TTL
			}
		}
	}
	return name, until
}

// leftBehind says that a lock stays until it expires, although nobody holds it, and nobody is left who could release it.
func (r *Run) leftBehind() (string, error) {
	name, until := r.owner()
	if name == "" || !r.gone(r.process(name)) {
		return "", nil
	}
	p := r.process(name)
	before := p.sent
	for {
		moved, err := r.pass()
		if err != nil || !moved || p.sent > before {
			return "", err // somebody of it releases the lock later
		}
		if now, _ := r.owner(); now != name {
			return fmt.Sprintf("the lock of %s stays for %v, and nobody holds it", name, until), nil
		}
	}
}

// gone reports whether no actor of a process holds the lock or is about to, and none has been told that its release failed.
func (r *Run) gone(p *process) bool {
	for _, a := range p.actors {
		switch now, err := a.look(); {
		case now == idle:
		case now != done, err != nil && a.obtained:
			return false
		}
	}
	return !slices.ContainsFunc(r.server.Held(), func(l *server.Line) bool { return l.Process == p.name && !l.Deserted() })
}

// stuck says that an actor's call never comes back, although nobody holds the lock and nothing is on its way.
func (r *Run) stuck() (string, error) {
	var waits *actor
	for _, a := range r.actors {
		switch now, _ := a.look(); {
		case now == inside || now == locking && a.cancelled:
			return "", nil
		case now == locking || now == unlocking:
			waits = a
		}
	}
	if waits == nil || len(r.server.Held()) > 0 || len(r.server.Pushing()) > 0 || r.held() {
		return "", nil
	}
	if moved, err := r.pass(); moved || err != nil {
		return "", err
	}
	call := "Lock"
	if waits.is(unlocking) {
		call = "Unlock"
	}
	return fmt.Sprintf("%s's call of %s does not come back within %v, and nobody holds the lock", waits.name, call, horizon), nil
}

// held reports whether any node has the lock.
func (r *Run) held() bool {
	return slices.ContainsFunc(r.server.Holds(), func(s *simredis.State) bool { _, has := s.Key(r.library.Key); return has })
}
