package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// routine is a goroutine of the code that is explored. It goes on only when the world gives it the turn, and while it has it
// nothing else moves. It hands the turn back where it would wait: before a command, and in Clock.Wait.
type routine struct {
	id    int
	name  string
	actor *actor
	turn  chan bool // true: go on; false: end
	back  chan bool // true: it waits; false: it has ended
	ended bool
	asked int // since it was killed

	// Before a command:
	pending []redis.Cmder
	sending bool // it is on its way
	fate    fate // of that command

	// In Wait:
	waiting bool
	ctx     context.Context //nolint:containedctx // of the Wait it is in
	ch      <-chan struct{}
	err     error    // what Wait is to return
	brief   []*timer // its pauses of a moment, that have not ended

	seen  uint64 // the world's version after its last command
	eager bool   // that command's reply was lost: it may be worth trying again at once
}

// errKilled is what a routine gets for all it asks when its process has died or its schedule is over, so that it ends by
// itself. One that does not, however often it gets it, is made to panic with it.
var errKilled = fmt.Errorf("%w: the process is dead", lock.ErrUnavailable)

const lastWords = 100 // how often a dead routine may ask

// spawn makes a routine of a's, ready to run.
func (w *world) spawn(a *actor, f func()) *routine {
	r := &routine{id: len(w.routines), name: a.name, actor: a}
	if a.spawned > 0 {
		r.name = fmt.Sprintf("%s.%d", a.name, a.spawned)
	}
	a.spawned++
	r.turn, r.back = make(chan bool), make(chan bool)
	go r.run(w, f)
	w.routines = append(w.routines, r)
	w.ready = append(w.ready, r)
	return r
}

// run is the goroutine.
func (r *routine) run(w *world, f func()) {
	defer func() { r.back <- false }()
	defer func() {
		if v := recover(); v != nil && v != any(errKilled) {
			w.fail(fmt.Errorf("%s panicked: %v", r.name, v))
		}
	}()
	if <-r.turn {
		f()
	}
}

// park hands the turn back until the world gives it again. It fails with errKilled when r is to end instead.
func (w *world) park(r *routine) error {
	if !r.actor.replica.dead {
		r.back <- true
		if <-r.turn {
			return nil
		}
	}
	r.asked++
	if r.asked > lastWords {
		panic(errKilled)
	}
	return errKilled
}

// resume lets r run until it parks or ends.
func (w *world) resume(r *routine) { w.give(r, true) }

// kill ends r wherever it is. Its process is dead.
func (w *world) kill(r *routine) { w.give(r, false) }

func (w *world) give(r *routine, turn bool) {
	w.current = r
	r.turn <- turn
	r.ended = !<-r.back
	w.current = nil
}

// settle lets everything run that can go on without a command, in a fixed order, until all wait.
func (w *world) settle() {
	for {
		for len(w.ready) > 0 {
			r := w.ready[0]
			w.ready = w.ready[1:]
			if !r.ended && !r.actor.replica.dead {
				w.resume(r)
			}
		}
		i := slices.IndexFunc(w.waiters, (*routine).wakes)
		if i < 0 {
			return
		}
		w.ready = append(w.ready, w.waiters[i])
		w.waiters = slices.Delete(w.waiters, i, i+1)
	}
}

// wakes reports whether what r waits for has come, and takes it.
func (r *routine) wakes() bool {
	if r.ended || r.actor.replica.dead || r.actor.replica.paused {
		return false
	}
	select {
	case <-r.ch:
		return true
	default:
		r.err = r.ctx.Err()
		return r.err != nil
	}
}

// asleep reports whether r is in a pause of a moment, as between two tries.
func (r *routine) asleep() bool { return r.waiting && len(r.brief) > 0 }

// virtualClock is the lock.Clock of one replica. A pause of at most moment ends whenever the explorer likes, without time
// moving: commands take a while too, so no order of them is excluded by so short a pause.
type virtualClock struct {
	w       *world
	replica *replica
	moment  time.Duration
}

type timer struct {
	replica *replica
	actor   *actor
	at      time.Duration
	f       func()
	sleeper *routine // of a pause of a moment
	stopped bool
}

// date is the virtual time that a duration since the start stands for.
func date(now time.Duration) time.Time {
	return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(now)
}

// Now tells the time, and remembers for the state that it was asked.
func (c virtualClock) Now() time.Time {
	c.replica.looks++
	if c.replica.lookedAt != c.w.now {
		c.replica.lookedAt = c.w.now
		c.w.note(c.replica, "now %d %d", c.replica.looks, c.w.now)
	}
	return date(c.w.now)
}

// AfterFunc implements lock.Clock.
func (c virtualClock) AfterFunc(d time.Duration, f func()) lock.Timer {
	t := &timer{replica: c.replica, actor: c.w.current.actor, at: c.w.now + d, f: f}
	switch {
	case c.replica.dead || d >= forever:
	case d <= c.moment:
		t.sleeper = c.w.current
		t.sleeper.brief = append(t.sleeper.brief, t)
	default:
		c.w.timers = append(c.w.timers, t)
	}
	return stopper{c.w, t}
}

// Go implements lock.Clock.
func (c virtualClock) Go(f func()) {
	if !c.replica.dead {
		c.w.spawn(c.w.current.actor, f)
	}
}

// Wait implements lock.Clock.
func (c virtualClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	r := c.w.current
	r.waiting, r.ctx, r.ch, r.err = true, ctx, ch, nil
	c.w.waiters = append(c.w.waiters, r)
	if err := c.w.park(r); err != nil {
		return err
	}
	r.waiting = false
	return r.err
}

type stopper struct {
	w *world
	t *timer
}

func (s stopper) Stop() bool {
	if s.t.stopped {
		return false
	}
	s.t.stopped = true
	is := func(t *timer) bool { return t == s.t }
	if s.t.sleeper != nil {
		s.t.sleeper.brief = slices.DeleteFunc(s.t.sleeper.brief, is)
	} else {
		s.w.timers = slices.DeleteFunc(s.w.timers, is)
	}
	return true
}

// fire runs a timer's function.
func (w *world) fire(t *timer) {
	stopper{w, t}.Stop()
	w.spawn(t.actor, t.f)
	w.settle()
}

// wake ends r's pause of a moment.
func (w *world) wake(r *routine) {
	for len(r.brief) > 0 && !r.ended {
		w.fire(r.brief[0])
	}
}
