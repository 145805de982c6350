package explore

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// routine is a goroutine of the code that is explored, run as a coroutine: it goes on only when the world lets it, and
// while it does nothing else moves. It stops where it would wait: before a command, and in Clock.Wait.
type routine struct {
	id    int
	name  string
	actor *actor
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	ended bool

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

// killed is what a routine panics with when its process has died or its schedule is over. Deferred functions run, and end
// alike at the first thing they wait for.
type killed struct{}

// spawn makes a routine of a's, ready to run.
func (w *world) spawn(a *actor, f func()) *routine {
	r := &routine{id: len(w.routines), name: a.name, actor: a}
	if a.spawned > 0 {
		r.name = fmt.Sprintf("%s.%d", a.name, a.spawned)
	}
	a.spawned++
	r.next, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
		defer func() {
			v := recover()
			if _, ok := v.(killed); v != nil && !ok {
				w.fail(fmt.Errorf("%s panicked: %v", r.name, v))
			}
		}()
		f()
	})
	w.routines = append(w.routines, r)
	w.ready = append(w.ready, r)
	return r
}

// park stops the routine that runs until the world resumes it.
func (w *world) park(r *routine) {
	if r.actor.replica.dead || !r.yield(struct{}{}) {
		panic(killed{})
	}
}

// resume lets r run until it parks or ends.
func (w *world) resume(r *routine) {
	w.current = r
	_, more := r.next()
	w.current = nil
	r.ended = r.ended || !more
}

// kill ends r wherever it is.
func (w *world) kill(r *routine) {
	w.current = r
	r.stop()
	w.current = nil
	r.ended = true
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
	c.w.park(r)
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
