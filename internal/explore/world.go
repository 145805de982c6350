package explore

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"lockstep/internal/lock"
)

const (
	runID = "explored"
	stock = 100 // before the first sale
	ttl   = 10 * time.Second
	retry = 20 * time.Millisecond
	// maxPasses is small, so that few sales are enough to see the lock go to another process.
	maxPasses = 1
	forever   = 1000 * time.Hour // as long as a wait may take; no timer is that patient
)

// world is one schedule as it unfolds: the actors, the time, and what Redis holds. One routine moves at a time.
type world struct {
	*arena
	scenario Scenario
	left     Faults // of the scenario's budgets

	servers []*server
	version uint64 // counts the changes of what Redis holds, expiries aside
	now     time.Duration

	replicas []*replica
	actors   []*actor
	routines []*routine // all there ever were
	current  *routine   // the one that runs
	ready    []*routine
	waiters  []*routine
	timers   []*timer
	options  []choice

	listeners []*listener
	watches   []*watch

	tries     int  // that there were
	idle      int  // how often time passed in vain since Redis changed
	desperate bool // the options are those of the last resort
	backwards bool // actors that start alike start in reverse order

	judge   judge
	story   *story // nil unless somebody wants to read it
	trouble error  // the explorer cannot go on
}

// replica is a process. Its actors share a lock, and its fate.
type replica struct {
	name   string
	actors []*actor
	ahead  time.Duration // its clock, of the world's
	dead   bool
	paused bool

	// All that ever happened to it. Its code is deterministic, so this stands for its whole state.
	past     [2]uint64
	answers  [][2]uint64   // its history with each server, of goroutines that were started to ask it
	notes    int           // of what happened
	looks    int           // at the clock
	lookedAt time.Duration // the last time that it saw
}

func (p *replica) begun() bool {
	return slices.ContainsFunc(p.actors, func(a *actor) bool { return a.started })
}

func (p *replica) ended() bool {
	return !slices.ContainsFunc(p.actors, func(a *actor) bool { return !a.finished })
}

// actor is one sale.
type actor struct {
	index   int
	name    string
	replica *replica
	try     bool // it tries once
	main    *routine
	spawned int // routines
	labels  int // as spawned, but for those whose try is forgotten

	leave     context.CancelFunc
	started   bool
	finished  bool
	cancelled bool
	err       error // of its sale

	waits  bool // for the lock
	leases []*lock.Lease
	bereft bool // while it was inside, its lock ended
}

// close ends what still runs.
func (w *world) close() {
	for _, p := range w.replicas {
		p.dead = true
	}
	w.bury()
	for _, a := range w.actors {
		a.leave()
	}
}

// bury ends the routines of dead processes.
func (w *world) bury() {
	for _, r := range w.routines {
		if r.actor.replica.dead && !r.ended {
			w.kill(r)
		}
	}
	w.timers = slices.DeleteFunc(w.timers, func(t *timer) bool { return t.replica.dead })
	w.waiters = slices.DeleteFunc(w.waiters, func(r *routine) bool { return r.ended })
	w.listeners = slices.DeleteFunc(w.listeners, func(l *listener) bool { return l.actor.replica.dead })
}

// apply lets c happen, and everything that follows from it by itself. It reports false when c turned out to be no choice
// of its own: a fault of a command that was not sent.
func (w *world) apply(c choice) bool {
	sent := true
	switch c.kind {
	case nodeCrashes, nodeHangs, nodeRestarts:
		w.befalls(w.servers[w.routines[c.id].to], c.kind)
		sent = w.move(w.routines[c.id], moves)
	case moves, losesReply, diesAfter, pausesAfter:
		sent = w.move(w.routines[c.id], c.kind)
	case diesBefore:
		w.left.Crash--
		w.routines[c.id].actor.replica.dead = true
	case pauses:
		w.left.Pause--
		w.replicas[c.id].paused = true
	case resumes:
		w.continues(w.replicas[c.id])
	case woken:
		w.rings(w.replicas[c.id])
	case unwoken:
		w.left.LostWake--
		w.rung(w.replicas[c.id]).next()
	case leaves:
		w.left.Cancel--
		a := w.actors[c.id]
		a.cancelled = true
		w.note(a.replica, "cancel %d", a.index)
		a.leave()
	case timePasses:
		if w.nextExpiry() == 0 && w.nextTimer() == nil {
			w.idle++
		}
		w.pass(w.nextEvent())
	case slow:
		w.left.Slow--
		w.pass(w.nextTimer().at)
	case expires:
		w.left.Expiry--
		w.pass(w.now + w.nextExpiry())
	}
	w.settle()
	w.bury()
	return sent
}

// move lets r do what it does next, with its next command if it comes to one.
func (w *world) move(r *routine, k kind) (sent bool) {
	switch {
	case r == r.actor.main && !r.actor.started:
		r.actor.started = true
		w.note(r.actor.replica, "start %d", r.actor.index)
		w.ready = append(w.ready, r)
		w.settle()
	case r.pending == nil:
		w.wake(r)
	}
	if r.pending == nil || r.ended {
		return k == moves
	}
	switch k {
	case losesReply:
		w.left.LostReply--
		r.fate = replyLost
	case diesAfter:
		w.left.Crash--
		r.fate = diedAfter
	case pausesAfter:
		w.left.Pause--
		r.fate = readLate
	default:
	}
	w.ready = append(w.ready, r)
	w.settle()
	return true
}

// continues resumes a process. The timers it slept through fire at once; then it reads the reply that waits for it.
func (w *world) continues(p *replica) {
	p.paused = false
	w.note(p, "resume")
	w.settle()
	for _, r := range w.routines {
		if r.actor.replica == p && r.unread && !r.ended {
			w.ready = append(w.ready, r)
			w.settle()
		}
	}
}

// nextEvent is when the next timer fires or the next key expires; if nothing is due, some time later.
func (w *world) nextEvent() time.Duration {
	expiry, t := w.nextExpiry(), w.nextTimer()
	switch {
	case t != nil && (expiry == 0 || t.at < w.now+expiry):
		return t.at
	case expiry == 0:
		return w.now + ttl + w.scenario.Skew*time.Duration(len(w.replicas)-1) // by any clock
	default:
		return w.now + expiry
	}
}

// pass lets time pass until then, firing timers as it goes.
func (w *world) pass(then time.Duration) {
	for t := w.nextTimer(); t != nil && t.at <= then; t = w.nextTimer() {
		w.elapse(t.at)
		w.settle() // fires it
	}
	w.elapse(then)
}

func (w *world) elapse(then time.Duration) {
	if then <= w.now {
		return
	}
	d := then - w.now
	w.now = then
	for _, s := range w.servers {
		next, err := w.memory.pass(s.holds, d)
		if err != nil {
			w.fail(err)
			return
		}
		w.becomes(s, next)
	}
}

// becomes changes what a server holds.
func (w *world) becomes(s *server, next *state) {
	before := s.holds
	s.holds = next
	if before.content != next.content {
		w.version++
		w.idle = 0
	}
	w.watched(s, before)
	w.judge.change(w, s, before)
}

// execute is what a connection does with what was sent.
func (w *world) execute(s *server, c *conn, command []byte) ([]byte, error) {
	a, err := w.ask(s, c, command)
	if err != nil {
		w.fail(err)
		return nil, err
	}
	before, version, r := s.holds, w.version, w.current
	t := r.itsTry()
	w.noteOf(r, s, "reply %s %q", w.inPast(r, s), a.reply)
	w.story.reply(a.reply, len(r.pending))
	if a.then.content != before.content && t.changes == 0 {
		t.before = w.contents()
	}
	w.becomes(s, a.then)
	if t.commands++; t.commands == 1 {
		t.version = version
	}
	t.changes += w.version - version
	t.at, t.server, t.sent, t.reply = w.now, s, slices.Clone(command), a.reply
	w.publish(a.published)
	w.judge.book(before, a.orders)
	if r.fate == replyLost || s.health == hung {
		return nil, io.ErrUnexpectedEOF
	}
	return a.reply, nil
}

// sent is called when a command has taken effect.
func (w *world) sent(r *routine, s *server) {
	if r.fate == replyLost {
		w.noteOf(r, s, "lost")
	}
	t := r.itsTry()
	t.lost = t.lost || r.fate == replyLost
}

// fail ends the exploration for a reason that is no verdict.
func (w *world) fail(err error) { w.trouble = errors.Join(w.trouble, err) }
