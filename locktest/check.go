package locktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/locktest/internal/server"
)

const leak = "a goroutine is left when all clients are closed"

// patience is how often the same thing happens until it counts as for ever.
const patience = 20

// check says what the last step has shown. It may let time pass to make sure, so nothing can follow it.
func (r *run) check() (found []Counterexample, _ error) {
	found = slices.Clone(r.found)
	for _, of := range []struct {
		anomaly Anomaly
		says    func() (string, error)
	}{{TwoHolders, r.twoHolders}, {LeftBehind, r.leftBehind}, {Stuck, r.stuck}, {Busy, r.busy}} {
		says, err := of.says()
		if err != nil {
			return nil, err
		}
		if says != "" {
			found = append(found, Counterexample{Anomaly: of.anomaly, Says: says})
		}
		if says != "" && of.anomaly == LeftBehind {
			break
		}
	}
	return found, nil
}

// twoHolders says which actors believe at the same time that they hold the lock. One that is paused does no harm if its token is old.
func (r *run) twoHolders() (string, error) {
	var holders []string
	for _, a := range r.actors {
		if fenced := a.process.paused && a.token() > 0 && a.token() < r.token; a.believes() && !fenced {
			holders = append(holders, a.name)
		}
	}
	if len(holders) < 2 {
		return "", nil
	}
	return strings.Join(holders, " and ") + " are both inside", nil
}

// lockKey is the lock's key on a node, and whose it is.
type lockKey struct {
	simredis.Key
	has   bool
	owner string // a process
	sure  bool   // a value says so; otherwise it is the process that wrote the key
}

// locks are those of all nodes.
func (r *run) locks() []lockKey {
	all := make([]lockKey, r.game.Nodes)
	for node, state := range r.server.Holds() {
		l := &all[node]
		if l.Key, l.has = state.Key(r.game.Key); l.has {
			l.owner, l.sure = r.server.Owner(node, l.Key)
			r.stage.locked = true
		}
	}
	return all
}

// watch notes when a command of one process changes a lock that another holds.
func (r *run) watch(by string, before, after []lockKey) {
	for node, was := range before {
		is := after[node]
		sameValues := was.has && is.has && slices.Equal(was.Values, is.Values)
		if !was.has || was.owner == "" || was.owner == by || sameValues && is.TTL == was.TTL {
			continue
		}
		if !slices.ContainsFunc(r.process(was.owner).actors, (*actor).believes) {
			continue
		}
		if is.has && !sameValues && !was.sure && !is.sure {
			r.find(Unattributed, "%s changes the lock of %s from %q to %q, and neither says whose it is", by, was.owner, was.Values, is.Values)
			continue
		}
		r.find(ForeignRelease, "%s changes the lock of %s", by, was.owner)
	}
}

// find notes what a step has done, whatever the state is then.
func (r *run) find(a Anomaly, format string, values ...any) {
	if !slices.ContainsFunc(r.found, func(known Counterexample) bool { return known.Anomaly == a }) {
		r.found = append(r.found, Counterexample{Anomaly: a, Says: fmt.Sprintf(format, values...)})
	}
}

// owner is the process whose lock is on a majority of the nodes, and until when; 0: for ever.
func (r *run) owner() (name string, until time.Duration) {
	count := map[string]int{}
	for _, l := range r.locks() {
		if l.owner == "" {
			continue
		}
		if count[l.owner]++; count[l.owner] > r.game.Nodes/2 {
			name, until = l.owner, l.TTL
		}
	}
	return name, until
}

// leftBehind says that a lock stays, until it expires or for ever, although nobody holds it, and nobody is left who could release it.
func (r *run) leftBehind() (string, error) {
	name, until := r.owner()
	if name == "" {
		return "", nil
	}
	p := r.process(name)
	switch {
	case until == 0 && (p.crashed || r.isGone(p)):
		return r.leftForEver(p)
	case !r.isGone(p):
		return "", nil
	}
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

// leftForEver says that a lock stays for ever which does not expire, and whose process has crashed or is done with it. A newcomer decides:
// it asks for the lock until it has it, or for long.
func (r *run) leftForEver(p *process) (string, error) {
	if r.isAnyPaused() || r.isOnItsWay(p) {
		return "", nil
	}
	newcomer, err := r.newcomer()
	if err != nil {
		return "", err
	}
	newcomer.lock(newcomer.process.lock.Lock)
	stays, began := true, r.now()
	for moved := true; stays && moved && !newcomer.process.history.repeats && r.now()-began < horizon; {
		if stays, err = r.isStillHeldBy(p); err != nil {
			return "", err
		}
		if newcomer.is(done) {
			break
		}
		if moved, err = r.pass(); err != nil {
			return "", err
		}
	}
	switch {
	case !stays:
		return "", nil
	case p.crashed:
		return p.name + " has crashed, and its lock stays for ever", nil
	default:
		return fmt.Sprintf("the lock of %s stays for ever, and nobody holds it", p.name), nil
	}
}

// isStillHeldBy lets everybody do what he can without waiting. It reports whether the lock is still that process's, and nobody holds it.
func (r *run) isStillHeldBy(p *process) (bool, error) {
	if err := r.settle(); err != nil {
		return false, err
	}
	for _, other := range r.processes {
		if _, err := r.drive(other); err != nil {
			return false, err
		}
		if slices.ContainsFunc(other.actors, (*actor).believes) {
			return false, nil
		}
	}
	now, _ := r.owner()
	return now == p.name, nil
}

// newcomer is an actor of a process that comes in the end.
func (r *run) newcomer() (*actor, error) {
	p := &process{name: "newcomer", index: len(r.processes)}
	a := &actor{name: p.name, process: p, run: r}
	p.actors = []*actor{a}
	r.processes, r.actors = append(r.processes, p), append(r.actors, a)
	return a, r.open(p)
}

// isOnItsWay reports whether something that a process has sent may still take effect.
func (r *run) isOnItsWay(p *process) bool {
	return r.left[late] > 0 && slices.ContainsFunc(r.server.Held(), func(l *server.Line) bool { return l.Process == p.name })
}

// drive lets all that a process sends take effect, and all that is pushed reach it, until it sends nothing more. It gives how many
// commands that took, and ends when there are too many of them.
func (r *run) drive(p *process) (commands int, err error) {
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

// busy says that the process of the last step sends command after command, and no time passes.
func (r *run) busy() (string, error) {
	i := slices.IndexFunc(r.processes, func(p *process) bool { return p.name == r.step.Actor && !p.crashed && !p.paused })
	if i < 0 {
		return "", nil
	}
	commands, err := r.drive(r.processes[i])
	if err != nil || commands < patience {
		return "", err
	}
	return r.processes[i].name + " sends command after command, without a pause", nil
}

// isGone reports whether no actor of a process holds the lock or is about to, and none has been told that its release failed.
func (r *run) isGone(p *process) bool {
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
func (r *run) stuck() (string, error) {
	var waits *actor
	for _, a := range r.actors {
		switch now, _ := a.look(); {
		case now == inside || now == locking && a.cancelled:
			return "", nil
		case now == locking || now == unlocking:
			waits = a
		}
	}
	if waits == nil || r.isAnyPaused() || r.isUnderWay() || r.isHeld() {
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

// isUnderWay reports whether anything may still arrive.
func (r *run) isUnderWay() bool {
	arrives := func(l *server.Line) bool { return !l.Deserted() || r.left[late] > 0 }
	return slices.ContainsFunc(r.server.Held(), arrives) || len(r.server.Pushing()) > 0
}

// isHeld reports whether any node has the lock.
func (r *run) isHeld() bool {
	return slices.ContainsFunc(r.server.Holds(), func(s *simredis.State) bool { _, has := s.Key(r.game.Key); return has })
}
