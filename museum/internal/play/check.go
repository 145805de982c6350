package play

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/museum/internal/server"
)

// Leaked is what Play's caller says of a run that leaked.
const Leaked = "a goroutine is left when all clients are closed"

// Busy is an anomaly of locks that are told when to try again: they may be told by what they do themselves.
const Busy anomaly.Anomaly = "busy"

// patience is how often the same thing happens until it counts as for ever.
const patience = 20

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
	if left != "" {
		return found, nil
	}
	stuck, err := r.stuck()
	if err != nil {
		return nil, err
	}
	show(anomaly.Stuck, stuck)
	busy, err := r.busy()
	if err != nil {
		return nil, err
	}
	show(Busy, busy)
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
	name, _, _ := strings.Cut(strings.TrimPrefix(key.Values[0], lock.Owner("")), ":")
	return strings.TrimRight(name, "0123456789")
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
	for renewals := 0; renewals < patience; {
		before := p.sent
		moved, err := r.pass()
		if err != nil || !moved {
			return "", err
		}
		if now, _ := r.owner(); now != name {
			return fmt.Sprintf("the lock of %s stays for %v, and nobody holds it", name, until), nil
		}
		if p.sent == before {
			continue
		}
		renewals++
		if _, err := r.drive(p); err != nil {
			return "", err
		}
		if now, _ := r.owner(); now != name {
			return "", nil // somebody of it has released the lock later
		}
	}
	return fmt.Sprintf("%s renews its lock for ever, and nobody holds it", name), nil
}

// drive lets all that a process sends take effect, and all that is pushed reach it, until it sends nothing more. It gives how many
// commands that took, and ends when there are too many of them.
func (r *Run) drive(p *process) (commands int, err error) {
	ofIt := func(l *server.Line) bool { return l.Process == p.name && !l.Deserted() }
	for commands < patience {
		held, pushing := r.server.Held(), r.server.Pushing()
		if i := slices.IndexFunc(held, ofIt); i >= 0 {
			commands++
			if _, err := held[i].Answer(); err != nil {
				return commands, err
			}
		} else if i := slices.IndexFunc(pushing, ofIt); i >= 0 {
			pushing[i].Push()
		} else {
			break
		}
		if err := r.settle(); err != nil {
			return commands, err
		}
	}
	return commands, nil
}

// busy says that the process of the last step sends command upon command, and no time passes.
func (r *Run) busy() (string, error) {
	i := slices.IndexFunc(r.processes, func(p *process) bool { return p.name == r.step.Actor && !p.crashed && !p.paused })
	if i < 0 {
		return "", nil
	}
	commands, err := r.drive(r.processes[i])
	if err != nil || commands < patience {
		return "", err
	}
	return r.processes[i].name + " sends command upon command, without a pause", nil
}

// gone reports whether no actor of a process holds the lock or is about to, and none has been told that its release failed.
func (r *Run) gone(p *process) bool {
	if p.crashed || p.paused {
		return false
	}
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
	if waits == nil || r.anyPaused() || r.underWay() || r.held() {
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

// underWay reports whether anything may still arrive.
func (r *Run) underWay() bool {
	arrives := func(l *server.Line) bool { return !l.Deserted() || r.left[Late] > 0 }
	return slices.ContainsFunc(r.server.Held(), arrives) || len(r.server.Pushing()) > 0
}

// held reports whether any node has the lock.
func (r *Run) held() bool {
	return slices.ContainsFunc(r.server.Holds(), func(s *simredis.State) bool { _, has := s.Key(r.library.Key); return has })
}
