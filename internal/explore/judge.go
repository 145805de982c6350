package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Property is something that a lock promises to a sale.
type Property string

// The properties, in the order in which they are looked at.
const (
	MutualExclusion Property = "mutual-exclusion" // at most one holder is inside
	LostUpdate      Property = "lost-update"      // no sale writes over another's
	ForeignRelease  Property = "foreign-release"  // nobody removes, overwrites or prolongs a lock that is another's
	LeftBehind      Property = "left-behind"      // no lock stays that nobody holds and nothing will remove
	Stuck           Property = "stuck"            // everybody can go on
	Untold          Property = "untold"           // who works on without the lock is told
	GoroutineLeak   Property = "goroutine-leak"   // no goroutine outlives the sales it was for
)

// Properties lists them all.
func Properties() []Property {
	return []Property{MutualExclusion, LostUpdate, ForeignRelease, LeftBehind, Stuck, Untold, GoroutineLeak}
}

// Means says in words what a property promises.
func (p Property) Means() string {
	switch p {
	case MutualExclusion:
		return "at most one sale is inside at a time"
	case LostUpdate:
		return "no sale writes over another's"
	case ForeignRelease:
		return "nobody removes, overwrites or prolongs a lock that is another's"
	case LeftBehind:
		return "no lock stays that nobody holds and nothing will ever remove"
	case Stuck:
		return "everybody can go on"
	case Untold:
		return "whoever works on without the lock is told so"
	case GoroutineLeak:
		return "no goroutine outlives the sale it was for"
	default:
		return ""
	}
}

// Applies reports whether a strategy promises this at all: what is no lock excludes nobody, and only a lock in Redis can be
// lost there.
func (p Property) Applies(s strategy.Strategy) bool {
	switch p {
	case LostUpdate, Stuck, GoroutineLeak:
		return true
	case MutualExclusion:
		return s.Scope != strategy.Nobody
	default:
		return s.Scope == strategy.Everybody
	}
}

// breach is a promise broken, in words.
type breach struct {
	property Property
	says     string
}

// judge watches a world from outside, knowing what no actor can know.
type judge struct {
	scope    strategy.Scope
	holder   int // index of the actor whose lock Redis holds, -1: nobody's
	breaches []breach
}

func (j *judge) breaks(p Property, format string, args ...any) {
	j.breaches = append(j.breaches, breach{p, fmt.Sprintf(format, args...)})
}

// change sees what a server held before, and what it holds now. If a command did it, its actor is the one that runs.
func (j *judge) change(w *world, s *server, before *state) {
	was, had := before.key(lock.Key)
	is, has := s.holds.key(lock.Key)
	if w.current == nil { // time, or a fault
		if !has {
			s.holder = -1
		}
	} else if a := w.current.actor; had != has || !slices.Equal(was.values, is.values) || was.ttl != is.ttl {
		ours := was.isOf(a.replica)
		same := slices.Equal(was.values, is.values)
		over := has && had && !same && was.ttl == 0 // Redis would not have ended it
		ofNobody := s.holder < 0 || over && w.actors[s.holder].done()
		if had && !ofNobody && s.holder != a.index && !ours {
			j.breaks(ForeignRelease, "%s %s %s's lock", a.name, deed(has, same), w.actors[s.holder].name)
		}
		switch next := w.handed(is, a); {
		case !has:
			s.holder, s.heir = -1, -1
		case ours && next >= 0:
			s.holder, s.heir = next, -1
		case over && s.holder >= 0 && w.actors[s.holder].inside():
			s.heir = a.index
		case !had || !same && !ours:
			s.holder, s.heir = a.index, -1
		}
	}
	j.count(w)
}

// count sees whose the lock is: who has it on most of the servers that it is on.
func (j *judge) count(w *world) {
	holder := -1
	for i := range w.actors {
		n := 0
		for _, s := range w.keepers() {
			if s.holder == i {
				n++
			}
		}
		if n > len(w.keepers())/2 {
			holder = i
		}
	}
	if j.holder >= 0 && holder != j.holder {
		if a := w.actors[j.holder]; a.inside() {
			a.bereft = true
		}
	}
	j.holder = holder
}

// isOf reports whether a lock is one of the whole process p.
func (e entry) isOf(p *replica) bool {
	owner := lock.Owner(p.name)
	return slices.ContainsFunc(e.values, func(value string) bool { return value == owner || strings.HasPrefix(value, owner+":") })
}

// handed gives who a has made a lock over to, -1: nobody. That is any who waits in the other process: enters sees which.
func (w *world) handed(to entry, a *actor) int {
	return slices.IndexFunc(w.actors, func(b *actor) bool { return b.replica != a.replica && b.waits && to.isOf(b.replica) })
}

// enters sees a enter with a lock that it wrote over another's, or that another sale of its process had, and passed along, or that
// was handed to its process.
func (j *judge) enters(w *world, a *actor) {
	for _, s := range w.keepers() {
		if s.heir == a.index {
			s.holder, s.heir = a.index, -1
			j.count(w)
		}
	}
	if j.holder < 0 || w.actors[j.holder].replica != a.replica || w.actors[j.holder].inside() {
		return
	}
	for _, s := range w.keepers() {
		if s.holder == j.holder {
			s.holder = a.index
		}
	}
	j.holder = a.index
}

// deed is what somebody did to a lock.
func deed(stays, same bool) string {
	switch {
	case !stays:
		return "removes"
	case same:
		return "prolongs"
	default:
		return "overwrites"
	}
}

// book sees what a command added to the ledger.
func (j *judge) book(before *state, orders []history.Order) {
	for _, order := range orders {
		if held := before.stock(); held != fmt.Sprint(order.Before) {
			j.breaks(LostUpdate, "%s writes %d, having read %d, but the stock was %s by then: a sale is lost",
				order.ID, order.After, order.Before, held)
		}
	}
}

// look sees what is so after a step.
func (j *judge) look(w *world) {
	for i, a := range w.actors {
		for _, b := range w.actors[:i] {
			if a.inside() && b.inside() && (j.scope == strategy.Everybody || j.scope == strategy.Process && a.replica == b.replica) {
				j.breaks(MutualExclusion, "%s and %s are both inside", b.name, a.name)
			}
		}
	}
	for _, p := range w.replicas {
		if p.dead || !p.begun() || !p.ended() {
			continue
		}
		for _, r := range w.routines {
			if r.actor.replica == p && !r.ended && !w.asks(p) {
				j.breaks(GoroutineLeak, "%s's sale has ended, and a goroutine of it has not", r.actor.name)
			}
		}
	}
	able := slices.ContainsFunc(w.choices(), func(c choice) bool { return c.kind == moves || c.kind == woken }) && !w.desperate
	for _, a := range w.actors {
		if !able && a.waits && len(a.leases) > 0 && j.holder == a.index && !a.replica.dead && !a.replica.paused && w.inVain(a.main) {
			j.breaks(Stuck, "%s waits for a lock that it holds itself", a.name)
		}
	}
	if len(w.options) == 0 {
		j.end(w)
	}
}

// inVain reports whether r waits for what time alone will not bring.
func (w *world) inVain(r *routine) bool {
	return r.waiting && (r.sleep == nil || r.asleep() && w.wouldRepeat(r))
}

// end sees what is left when nothing more will happen.
func (j *judge) end(w *world) {
	abandoned := j.holder < 0 || !w.actors[j.holder].inside()
	for _, s := range w.keepers() {
		if held, has := s.holds.key(lock.Key); has && held.ttl == 0 && abandoned && !w.inherited() {
			j.breaks(LeftBehind, "the lock stays for ever, and nobody holds it")
			break
		}
	}
	for _, a := range w.actors {
		if !a.finished && !a.replica.dead {
			j.breaks(Stuck, "%s can never go on", a.name)
		}
	}
}

// done reports whether a has no more use for a lock: it is dead, or was told, or is about to give it back.
func (a *actor) done() bool { return a.replica.dead || !a.waits && !a.inside() }

// inside reports whether a believes, and may believe, that it holds the lock.
func (a *actor) inside() bool {
	return len(a.leases) > 0 && !a.finished && !a.replica.dead && !a.told()
}

// told reports whether a knows that its lock is lost.
func (a *actor) told() bool {
	return errors.Is(context.Cause(a.leases[0].Context()), lock.ErrLost)
}

// watched is a lock that tells the world who is inside.
type watched struct {
	w     *world
	actor *actor
	lock  lock.Locker
}

// Lock implements lock.Locker. An actor that is to try once does.
func (l watched) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	a, take := l.actor, l.lock.Lock
	if a.try && len(a.leases) == 0 {
		take = l.lock.TryLock
	}
	a.waits = true
	l.w.begins(l.w.current) // what it did before was not for the lock
	lease, err := take(ctx, owner)
	a.waits = false
	if err != nil {
		return nil, err
	}
	if len(a.leases) == 0 {
		l.w.judge.enters(l.w, a)
		a.bereft = l.w.judge.scope == strategy.Everybody && l.w.judge.holder != a.index // it was lost before we heard of it
	}
	a.leases = append(a.leases, lease)
	opts, leave := lock.Options{Clock: virtualClock{l.w, a.replica, 0}}, sync.OnceFunc(l.leaves) // a failed Unlock may be tried again
	return lock.NewLease(lease.Context(), opts.Clock, lease.Token(), func(ctx context.Context) error {
		leave()
		return lease.Unlock(ctx)
	}), nil
}

// TryLock implements lock.Locker.
func (l watched) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.Lock(ctx, owner)
}

// leaves is called when a sale is about to unlock.
func (l watched) leaves() {
	a := l.actor
	ended := a.leases[0].Context().Err() != nil // for whatever reason, it was told to stop
	if len(a.leases) == 1 && a.bereft && !ended && !a.replica.dead {
		l.w.judge.breaks(Untold, "%s worked on without the lock, and nothing told it", a.name)
	}
	a.leases = a.leases[:len(a.leases)-1]
}

// nobody watches the sales: a service.Observer.
type nobody struct{}

func (nobody) Waits(string, int)            {}
func (nobody) Waited(string, time.Duration) {}
func (nobody) Held(string, time.Duration)   {}
func (nobody) Conflicted(string)            {}
