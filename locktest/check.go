package locktest

import (
	"fmt"
	"slices"
	"time"

	"lockstep/internal/explore/bubble"
	"lockstep/internal/explore/bubble/server"
)

// Judge returns the anomalies of the current state, for bubble.Game. It may let time pass.
func (g *game) Judge() (found []bubble.Violation, _ error) {
	if g.contractErr != nil {
		return nil, g.contractErr
	}
	g.OnChange(nil)
	g.judge.Check()
	found = g.newViolations()
	quiet := !g.HasMessagesInFlight() // read before the checks let time pass
	polling := func() (string, error) { return g.findPolling(quiet) }
	for _, check := range []struct {
		anomaly Anomaly
		find    func() (string, error)
	}{{LeftBehind, g.findLeftBehind}, {Stuck, g.findStuck}, {Busy, g.CheckBusy}, {Stuck, polling}} {
		says, err := check.find()
		if err != nil {
			return nil, err
		}
		if says != "" {
			found = append(found, bubble.Violation{Kind: string(check.anomaly), Says: says})
		}
		if says != "" && check.anomaly == LeftBehind {
			break
		}
	}
	return found, nil
}

// owner returns the name of the process that owns the lock on a majority of the nodes, and the time until its key expires; 0: never. The
// name is "" if there is no such process.
func (g *game) owner() (name string, ttl time.Duration) {
	g.OnChange(nil)
	holder := g.judge.Holder()
	if holder < 0 {
		return "", 0
	}
	for node, now := range g.contents {
		if key, ok := now.Key(g.config.Key); ok && g.judge.Owner(node) == holder {
			ttl = key.TTL
		}
	}
	return g.candidates[holder].Process.Name, ttl
}

// findLeftBehind describes a lock that stays, until it expires or forever, although nobody holds it and nobody is left to release it; "" if
// there is no such lock.
func (g *game) findLeftBehind() (string, error) {
	name, ttl := g.owner()
	if name == "" {
		return "", nil
	}
	p := g.Process(name)
	switch {
	case ttl == 0 && (p.Crashed || g.hasAbandonedLock(p)):
		return g.findLeftForever(p)
	case !g.hasAbandonedLock(p):
		return "", nil
	}
	for renewals := 0; renewals < bubble.EndlessRepetitions; {
		before := p.SentCommands()
		moved, err := g.PassTime()
		if err != nil || !moved {
			return "", err
		}
		if now, _ := g.owner(); now != name {
			return fmt.Sprintf("the lock of %s stays for %v, and nobody holds it", name, ttl), nil
		}
		if p.SentCommands() == before {
			continue
		}
		renewals++
		if _, err := g.Drive(p); err != nil {
			return "", err
		}
		if now, _ := g.owner(); now != name {
			return "", nil // The process released its lock after all.
		}
	}
	return fmt.Sprintf("%s renews its lock forever, and nobody holds it", name), nil
}

// findLeftForever describes a lock without an expiry that stays after its process has crashed or finished; "" if the lock does not stay. To
// find out, it adds a process that asks for the lock until it obtains it, starts to repeat itself, or bubble.Horizon has passed.
func (g *game) findLeftForever(p *bubble.Process) (says string, err error) {
	if g.IsAnyPaused() || g.MayArriveLate(p) {
		return "", nil
	}
	if err = g.add(0, "newcomer"); err != nil {
		return "", err
	}
	newcomer := g.candidates[len(g.candidates)-1]
	newcomer.Start(g.lockCall(newcomer, "Lock", g.locks[newcomer.Process].Lock))
	stays, start := true, g.Now()
	for moved := true; stays && moved && !newcomer.Process.IsRepeating() && g.Now()-start < bubble.Horizon; {
		if stays, err = g.settleOwnedBy(p); err != nil {
			return "", err
		}
		if newcomer.IsIn(bubble.Done) {
			break
		}
		if moved, err = g.PassTime(); err != nil {
			return "", err
		}
	}
	switch {
	case !stays:
		return "", nil
	case p.Crashed:
		return p.Name + " has crashed, and its lock stays forever", nil
	default:
		return fmt.Sprintf("the lock of %s stays forever, and nobody holds it", p.Name), nil
	}
}

// settleOwnedBy lets every process proceed until it waits. Then it reports whether p owns the lock in Redis and no actor holds the lock.
func (g *game) settleOwnedBy(p *bubble.Process) (bool, error) {
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

// hasAbandonedLock reports whether no actor of a process holds or is about to obtain the lock, and no actor's release failed because of a
// fault.
func (g *game) hasAbandonedLock(p *bubble.Process) bool {
	if p.Crashed || p.Paused {
		return false
	}
	for _, c := range g.candidatesOf(p.Actors) {
		switch now, err := c.Status(); {
		case now == bubble.NotStarted:
		case now != bubble.Done, err != nil && c.obtained && p.LostMessage:
			return false
		}
	}
	return !slices.ContainsFunc(g.Server().HeldConns(), func(conn *server.Conn) bool {
		return conn.Process == p.Name && !conn.IsClosedByClient()
	})
}

// findStuck describes a call that never returns, although nobody holds the lock and no message is in flight; "" if there is no such call.
func (g *game) findStuck() (says string, err error) {
	if g.isLocked() {
		return "", nil
	}
	if says, err = g.CheckStuck(); says != "" {
		says += ", and nobody holds the lock"
	}
	return says, err
}

// isLocked reports whether a node has the lock's key and the key does not belong to a process that only waits. It is true if the owner is
// unknown, if a process that owns the key also believes that it holds the lock, or if no actor of that process is in a call. findLeftBehind
// covers a lock whose owner is gone.
func (g *game) isLocked() bool {
	g.OnChange(nil)
	isCalling := func(a *bubble.Actor) bool { return a.IsIn(bubble.Calling) }
	for node, now := range g.contents {
		if _, ok := now.Key(g.config.Key); !ok {
			continue
		}
		owner := g.judge.Owner(node)
		if owner < 0 {
			return true
		}
		if p := g.candidates[owner].Process; g.CanPause(p) || !slices.ContainsFunc(p.Actors, isCalling) {
			return true
		}
	}
	return false
}

// findPolling describes an actor that polls for the lock forever; "" if there is no such actor. It looks only if every actor is done or
// polling, and if quiet is true: no message was in flight before time passed.
func (g *game) findPolling(quiet bool) (says string, err error) {
	mayMove := func(a *bubble.Actor) bool {
		return a.IsIn(bubble.NotStarted) || a.IsIn(bubble.BetweenCalls) || a.IsCancelled()
	}
	if !quiet || g.isLocked() || slices.ContainsFunc(g.Actors(), mayMove) {
		return "", nil
	}
	if says, err = g.CheckPolling(); says != "" {
		says += ", and nobody holds the lock"
	}
	return says, err
}
