package explore

import (
	"bytes"
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
	label string // the same, but for tries that are forgotten
	actor *actor

	parent  *routine  // that started it
	started int       // in this of its tries
	turn    chan bool // true: go on; false: end
	back    chan bool // true: it waits; false: it has ended
	ended   bool
	asked   int // since it was killed

	// Before a command:
	pending []redis.Cmder
	to      int  // index of the server that it is for
	sending bool // it is on its way
	unread  bool // its reply is there, and its process is paused
	fate    fate // of that command

	unanswered bool // it waits for a node that does not answer

	// In Wait:
	waiting bool
	ctx     context.Context //nolint:containedctx // of the Wait it is in
	ch      <-chan struct{}
	err     error  // what Wait is to return
	last    *timer // the last thing it asked of the clock, if that was a timer
	sleep   *timer // what ends the Wait it is in, as far as that is the clock

	try try // since it last woke up
}

// try is what a routine did from one pause to the next, and those that it started for it.
type try struct {
	number   int // of the world's
	commands int
	changes  uint64        // of what Redis holds, by itself
	before   []*state      // what Redis held before the first of them
	lost     bool          // a reply was
	looked   bool          // at the clock
	version  uint64        // of the world, before its first command
	at       time.Duration // of its last command
	server   *server       // that it was sent to
	sent     []byte        // that command
	reply    []byte
	vain     int // how many tries like this one there were, with nothing changed by others

	// What its process's were when it began, and how much was added to its past since.
	past    [2]uint64
	answers [][2]uint64
	looks   int
	labels  int
	noted   int
	notes   int // of these, by itself
}

// begins starts a try of r's.
func (w *world) begins(r *routine) {
	w.tries++
	p := r.actor.replica
	r.try = try{number: w.tries, past: p.past, answers: p.answers, looks: p.looks, labels: r.actor.labels, noted: p.notes}
}

// itsTry is the try that r is part of.
func (r *routine) itsTry() *try {
	if r.parent != nil && r.parent.itsTry().number == r.started {
		return r.parent.itsTry()
	}
	return &r.try
}

// helped reports whether somebody works for r's try.
func (w *world) helped(r *routine) bool {
	return slices.ContainsFunc(w.routines, func(other *routine) bool {
		return !other.ended && other.parent == r && other.started == r.try.number
	})
}

// errKilled is what a routine gets for all it asks when its process has died or its schedule is over, so that it ends by
// itself. One that does not, however often it gets it, is made to panic with it.
var errKilled = fmt.Errorf("%w: the process is dead", lock.ErrUnavailable)

const lastWords = 100 // how often a dead routine may ask

// spawn makes a routine of a's, ready to run.
func (w *world) spawn(a *actor, f func()) *routine {
	r := &routine{id: len(w.routines), name: a.name, label: fmt.Sprintf("%s.%d", a.name, a.labels), actor: a}
	if a.spawned > 0 {
		r.name = fmt.Sprintf("%s.%d", a.name, a.spawned)
	}
	a.spawned++
	a.labels++
	w.begins(r)
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
		if i := slices.IndexFunc(w.waiters, (*routine).wakes); i >= 0 {
			w.ready = append(w.ready, w.waiters[i])
			w.waiters = slices.Delete(w.waiters, i, i+1)
			continue
		}
		t := w.nextTimer()
		if t == nil || t.at > w.now {
			return
		}
		w.note(t.replica, "timer")
		w.fire(t)
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
func (r *routine) asleep() bool {
	return r.waiting && r.sleep != nil && r.sleep.brief && !r.sleep.stopped
}

// wouldRepeat reports whether all that r did since it last woke up was to ask, or was undone, and to ask again would tell it the
// same: others have changed nothing, and time makes no difference.
func (w *world) wouldRepeat(r *routine) bool {
	t := r.try
	if t.commands == 0 || t.lost || w.version-t.version != t.changes || t.changes > 0 && !w.unchanged(t.before) {
		return false
	}
	if t.at == w.now {
		return true
	}
	return !t.looked && w.answers(w.now, t)
}

// answers reports whether a try's last command would have the same reply.
func (w *world) answers(now time.Duration, t try) bool {
	a, err := w.memory.ask(t.server.holds, now, t.sent)
	return err == nil && bytes.Equal(a.reply, t.reply)
}

// forget forgets a try that has left no trace in Redis, once the next one begins: what a waiter remembers of its tries is the last.
// Without that, those who undo each other's tries could go on for ever.
func (w *world) forget(r *routine) {
	t, p := r.try, r.actor.replica
	if (t.changes > 0 || len(w.servers) > 1) && !t.lost && !w.helped(r) && t.notes == p.notes-t.noted && w.undone(r) {
		p.past, p.answers, p.looks, r.actor.labels = t.past, t.answers, t.looks, t.labels
	}
}

// undone reports whether the servers that answer hold nothing of r's process.
func (w *world) undone(r *routine) bool {
	for _, s := range w.servers {
		if s.health != well {
			continue
		}
		for _, e := range s.holds.keys {
			if e.isOf(r.actor.replica) || slices.Contains(e.values, lock.Owner(r.actor.name)) {
				return false
			}
		}
	}
	return true
}

// virtualClock is the lock.Clock of one replica. A sleep of at most moment ends whenever the explorer likes, without time
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
	brief   bool // no longer than a moment
	stopped bool
}

// date is the virtual time that a duration since the start stands for.
func date(now time.Duration) time.Time {
	return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(now)
}

// Now tells the time, and remembers for the state that it was asked.
func (c virtualClock) Now() time.Time {
	if r := c.w.running("Clock.Now"); r != nil {
		r.itsTry().looked, r.last = true, nil
	}
	c.replica.looks++
	if c.replica.lookedAt != c.w.now {
		c.replica.lookedAt = c.w.now
		c.w.note(c.replica, "now %d %d", c.replica.looks, c.w.now)
	}
	return date(c.w.now + c.replica.ahead)
}

// AfterFunc implements lock.Clock.
func (c virtualClock) AfterFunc(d time.Duration, f func()) lock.Timer {
	t := &timer{replica: c.replica, at: c.w.now + max(d, 0), f: f, brief: 0 < d && d <= c.moment}
	r := c.w.running("Clock.AfterFunc")
	if r == nil || c.replica.dead || d >= forever {
		return stopper{c.w, t}
	}
	t.actor, r.last = r.actor, t
	c.w.timers = append(c.w.timers, t)
	return stopper{c.w, t}
}

// Go implements lock.Clock.
func (c virtualClock) Go(f func()) {
	if r := c.w.running("Clock.Go"); r != nil && !c.replica.dead {
		r.last = nil
		kid := c.w.spawn(r.actor, f)
		kid.parent, kid.started = r, r.try.number
	}
}

// Wait implements lock.Clock.
func (c virtualClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	r := c.w.running("Clock.Wait")
	if r == nil {
		return ErrBlind
	}
	r.sleep, r.last = r.last, nil
	r.waiting, r.ctx, r.ch, r.err = true, ctx, ch, nil
	if r.asleep() { // then the explorer ends it, not time
		c.w.timers = slices.DeleteFunc(c.w.timers, func(t *timer) bool { return t == r.sleep })
	}
	c.w.waiters = append(c.w.waiters, r)
	helped := c.w.helped(r)
	if err := c.w.park(r); err != nil {
		return err
	}
	if helped && len(c.w.servers) > 1 {
		c.w.join(c.replica)
	}
	if r.waiting = false; !helped && (r.sleep == nil || !r.sleep.brief) {
		c.w.begins(r)
	}
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
	s.w.timers = slices.DeleteFunc(s.w.timers, func(t *timer) bool { return t == s.t })
	return true
}

// fire runs a timer's function, once the world settles.
func (w *world) fire(t *timer) {
	stopper{w, t}.Stop()
	w.spawn(t.actor, t.f)
}

// wake ends r's pause of a moment.
func (w *world) wake(r *routine) {
	vain := 0
	if w.wouldRepeat(r) {
		vain = r.try.vain + 1
	}
	w.forget(r)
	w.begins(r)
	r.try.vain = vain
	w.note(r.actor.replica, "wake %s", r.label)
	r.try.noted = r.actor.replica.notes
	w.fire(r.sleep)
	w.settle()
}

// running is the routine that has the turn. Without one, somebody acts behind the explorer's back.
func (w *world) running(what string) *routine {
	if w.current == nil {
		w.fail(fmt.Errorf("%w: %s was called in New, or by a goroutine of its own", ErrBlind, what))
	}
	return w.current
}
