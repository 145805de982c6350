package locktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore/bubble"
	"lockstep/internal/explore/bubble/server"
	"lockstep/internal/explore/simredis"
)

// Judge implements bubble.Game.
func (g *game) Judge() (found []bubble.Finding, _ error) {
	if g.broken != nil {
		return nil, g.broken
	}
	quiet := !g.IsUnderWay() // before time passes
	polling := func() (string, error) { return g.polling(quiet) }
	for _, of := range []struct {
		anomaly Anomaly
		says    func() (string, error)
	}{{TwoHolders, g.twoHolders}, {LeftBehind, g.leftBehind}, {Stuck, g.stuck}, {Busy, g.Busy}, {Stuck, polling}} {
		says, err := of.says()
		if err != nil {
			return nil, err
		}
		if says != "" {
			found = append(found, bubble.Finding{Kind: string(of.anomaly), Says: says})
		}
		if says != "" && of.anomaly == LeftBehind {
			break
		}
	}
	return found, nil
}

// twoHolders says which actors believe at the same time that they hold the lock. One that is paused does no harm if its token is old.
func (g *game) twoHolders() (string, error) {
	var holders []string
	for _, c := range g.candidate {
		if fenced := c.Process.Paused && c.token() > 0 && c.token() < g.token; c.believes() && !fenced {
			holders = append(holders, c.Name)
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

// keys are the lock's on all nodes.
func (g *game) keys() []lockKey {
	all := make([]lockKey, g.config.Nodes)
	for node, state := range g.Server().Holds() {
		l := &all[node]
		if l.Key, l.has = state.Key(g.config.Key); l.has {
			l.owner, l.sure = g.Server().Owner(node, l.Key)
			g.evidence.locked = true
		}
	}
	return all
}

// watch notes when a command of one process changes a lock that another holds.
func (g *game) watch(by string, before, after []lockKey) {
	for node, was := range before {
		is := after[node]
		sameValues := was.has && is.has && isPreserved(was.Values, is.Values)
		if !was.has || was.owner == "" || was.owner == by || sameValues && is.TTL == was.TTL {
			continue
		}
		if !g.CanPause(g.Process(was.owner)) {
			continue
		}
		if is.has && !sameValues && !was.sure && !is.sure {
			g.find(Unattributed, "%s changes the lock of %s from %q to %q, and neither says whose it is", by, was.owner, was.Values, is.Values)
			continue
		}
		g.find(ForeignRelease, "%s changes the lock of %s", by, was.owner)
	}
}

// isPreserved reports whether what a key held is still there, in its order: others may have added to it, as waiters do who enter
// themselves. A counter that has grown by one, or shrunk by one, holds what it held.
func isPreserved(was, is []string) bool {
	if len(was) == 1 && len(is) == 1 {
		return was[0] == is[0] || server.CountsOn(was[0], is[0])
	}
	for _, value := range is {
		if len(was) > 0 && was[0] == value {
			was = was[1:]
		}
	}
	return len(was) == 0
}

// owner is the process whose lock is on a majority of the nodes, and until when; 0: for ever.
func (g *game) owner() (name string, until time.Duration) {
	count := map[string]int{}
	for _, l := range g.keys() {
		if l.owner == "" {
			continue
		}
		if count[l.owner]++; count[l.owner] > g.config.Nodes/2 {
			name, until = l.owner, l.TTL
		}
	}
	return name, until
}

// leftBehind says that a lock stays, until it expires or for ever, although nobody holds it, and nobody is left who could release it.
func (g *game) leftBehind() (string, error) {
	name, until := g.owner()
	if name == "" {
		return "", nil
	}
	p := g.Process(name)
	switch {
	case until == 0 && (p.Crashed || g.isGone(p)):
		return g.leftForEver(p)
	case !g.isGone(p):
		return "", nil
	}
	for renewals := 0; renewals < bubble.Patience; {
		before := p.Sent()
		moved, err := g.Pass()
		if err != nil || !moved {
			return "", err
		}
		if now, _ := g.owner(); now != name {
			return fmt.Sprintf("the lock of %s stays for %v, and nobody holds it", name, until), nil
		}
		if p.Sent() == before {
			continue
		}
		renewals++
		if _, err := g.Drive(p); err != nil {
			return "", err
		}
		if now, _ := g.owner(); now != name {
			return "", nil // somebody of it has released the lock later
		}
	}
	return fmt.Sprintf("%s renews its lock for ever, and nobody holds it", name), nil
}

// leftForEver says that a lock stays for ever which does not expire, and whose process has crashed or is done with it. A newcomer decides:
// it asks for the lock until it has it, or for long.
func (g *game) leftForEver(p *bubble.Process) (says string, err error) {
	if g.IsAnyPaused() || g.MayArriveLate(p) {
		return "", nil
	}
	if err = g.add(0, "newcomer"); err != nil {
		return "", err
	}
	newcomer := g.candidate[len(g.candidate)-1]
	newcomer.Start(g.locking(newcomer, "Lock", g.locks[newcomer.Process].Lock))
	stays, began := true, g.Now()
	for moved := true; stays && moved && !newcomer.Process.Repeats() && g.Now()-began < bubble.Horizon; {
		if stays, err = g.isStillHeldBy(p); err != nil {
			return "", err
		}
		if newcomer.Is(bubble.Done) {
			break
		}
		if moved, err = g.Pass(); err != nil {
			return "", err
		}
	}
	switch {
	case !stays:
		return "", nil
	case p.Crashed:
		return p.Name + " has crashed, and its lock stays for ever", nil
	default:
		return fmt.Sprintf("the lock of %s stays for ever, and nobody holds it", p.Name), nil
	}
}

// isStillHeldBy lets everybody do what he can without waiting. It reports whether the lock is still that process's, and nobody holds it.
func (g *game) isStillHeldBy(p *bubble.Process) (bool, error) {
	if err := g.Settle(); err != nil {
		return false, err
	}
	for _, other := range g.Processes() {
		if _, err := g.Drive(other); err != nil {
			return false, err
		}
		if g.CanPause(other) {
			return false, nil
		}
	}
	now, _ := g.owner()
	return now == p.Name, nil
}

// isGone reports whether no actor of a process holds the lock or is about to, and none has been told that its release failed because of a
// fault.
func (g *game) isGone(p *bubble.Process) bool {
	if p.Crashed || p.Paused {
		return false
	}
	for _, c := range g.of(p.Actors) {
		switch now, err := c.Look(); {
		case now == bubble.Idle:
		case now != bubble.Done, err != nil && c.obtained && p.Lost:
			return false
		}
	}
	return !slices.ContainsFunc(g.Server().Held(), func(l *server.Line) bool { return l.Process == p.Name && !l.Deserted() })
}

// stuck says that an actor's call never comes back, although nobody holds the lock and nothing is on its way.
func (g *game) stuck() (says string, err error) {
	if g.isLocked() {
		return "", nil
	}
	if says, err = g.Stuck(); says != "" {
		says += ", and nobody holds the lock"
	}
	return says, err
}

// isLocked reports whether the lock is somebody's, on some node, who has not merely missed that it is. One that was left there by somebody
// who is gone, leftBehind knows.
func (g *game) isLocked() bool {
	waits := func(a *bubble.Actor) bool { return a.Is(bubble.Calling) }
	return slices.ContainsFunc(g.keys(), func(k lockKey) bool {
		return k.has && (k.owner == "" || g.CanPause(g.Process(k.owner)) || !slices.ContainsFunc(g.Process(k.owner).Actors, waits))
	})
}

// polling says that an actor asks for ever. It does if everybody is done or asks, and nothing was under way before time passed.
func (g *game) polling(quiet bool) (says string, err error) {
	mayMove := func(a *bubble.Actor) bool { return a.Is(bubble.Idle) || a.Is(bubble.Resting) || a.IsCancelled() }
	if !quiet || g.isLocked() || slices.ContainsFunc(g.Actors(), mayMove) {
		return "", nil
	}
	if says, err = g.Polling(); says != "" {
		says += ", and nobody holds the lock"
	}
	return says, err
}
