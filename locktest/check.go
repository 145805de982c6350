package locktest

import (
	"fmt"
	"slices"
	"time"

	"lockstep/internal/explore/bubble"
	"lockstep/internal/explore/bubble/server"
)

// Judge implements bubble.Game.
func (g *game) Judge() (found []bubble.Violation, _ error) {
	if g.broken != nil {
		return nil, g.broken
	}
	g.OnChange(nil)
	g.judge.Check()
	found = g.news()
	quiet := !g.HasMessagesInFlight() // before time passes
	polling := func() (string, error) { return g.polling(quiet) }
	for _, of := range []struct {
		anomaly Anomaly
		says    func() (string, error)
	}{{LeftBehind, g.leftBehind}, {Stuck, g.stuck}, {Busy, g.CheckBusy}, {Stuck, polling}} {
		says, err := of.says()
		if err != nil {
			return nil, err
		}
		if says != "" {
			found = append(found, bubble.Violation{Kind: string(of.anomaly), Says: says})
		}
		if says != "" && of.anomaly == LeftBehind {
			break
		}
	}
	return found, nil
}

// owner is the process whose lock is on a majority of the nodes, and until when; 0: for ever.
func (g *game) owner() (name string, until time.Duration) {
	g.OnChange(nil)
	holder := g.judge.Holder()
	if holder < 0 {
		return "", 0
	}
	for node, now := range g.contents {
		if key, has := now.Key(g.config.Key); has && g.judge.Owner(node) == holder {
			until = key.TTL
		}
	}
	return g.candidate[holder].Process.Name, until
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
		before := p.SentCommands()
		moved, err := g.PassTime()
		if err != nil || !moved {
			return "", err
		}
		if now, _ := g.owner(); now != name {
			return fmt.Sprintf("the lock of %s stays for %v, and nobody holds it", name, until), nil
		}
		if p.SentCommands() == before {
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
	for moved := true; stays && moved && !newcomer.Process.IsRepeating() && g.Now()-began < bubble.Horizon; {
		if stays, err = g.isStillHeldBy(p); err != nil {
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

// stuck says that an actor's call never comes back, although nobody holds the lock and nothing is on its way.
func (g *game) stuck() (says string, err error) {
	if g.isLocked() {
		return "", nil
	}
	if says, err = g.CheckStuck(); says != "" {
		says += ", and nobody holds the lock"
	}
	return says, err
}

// isLocked reports whether the lock is somebody's, on some node, who has not merely missed that it is. One that was left there by somebody
// who is gone, leftBehind knows.
func (g *game) isLocked() bool {
	g.OnChange(nil)
	waits := func(a *bubble.Actor) bool { return a.IsIn(bubble.Calling) }
	for node, now := range g.contents {
		if _, has := now.Key(g.config.Key); !has {
			continue
		}
		owner := g.judge.Owner(node)
		if owner < 0 {
			return true
		}
		if p := g.candidate[owner].Process; g.CanPause(p) || !slices.ContainsFunc(p.Actors, waits) {
			return true
		}
	}
	return false
}

// polling says that an actor asks for ever. It does if everybody is done or asks, and nothing was under way before time passed.
func (g *game) polling(quiet bool) (says string, err error) {
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
