package explore

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"slices"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/service"
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

	redis   *state
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
	dead   bool
	paused bool

	// All that ever happened to it. Its code is deterministic, so this stands for its whole state.
	past     [2]uint64
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

	leave     context.CancelFunc
	started   bool
	finished  bool
	cancelled bool
	err       error // of its sale

	waits  bool // for the lock
	leases []*lock.Lease
	bereft bool // while it was inside, its lock ended
}

// arena is what an exploring worker keeps from one schedule to the next.
type arena struct {
	strategy evolution.Strategy
	bounds   Bounds
	memory   *memory
	wires    []*wire // a replica each
	stores   []*dao.Store
	start    *state
	seeds    [2]maphash.Seed
	buffer   []byte
}

func newArena(strategy evolution.Strategy, scenario Scenario, bounds Bounds, seeds [2]maphash.Seed) (*arena, error) {
	m, err := newMemory()
	if err != nil {
		return nil, err
	}
	a := &arena{strategy: strategy, bounds: bounds, memory: m, seeds: seeds}
	a.start = m.intern([]entry{{name: dao.InventoryKey, kind: "string", values: []string{fmt.Sprint(stock)}}})
	for range scenario.Processes() {
		w, err := newWire(m)
		if err != nil {
			return nil, err
		}
		a.wires = append(a.wires, w)
		a.stores = append(a.stores, dao.NewStore(w.client, runID))
	}
	return a, nil
}

func (a *arena) close() {
	for _, w := range a.wires {
		_ = w.client.Close() // there is nothing behind it
	}
	a.memory.server.Close()
}

// newWorld begins a schedule.
func (a *arena) newWorld(scenario Scenario) *world {
	w := &world{arena: a, scenario: scenario, left: scenario.Faults, redis: a.start}
	w.judge = judge{scope: a.strategy.Scope, holder: -1}
	lockers := make([]lock.Locker, scenario.Processes())
	for i := range lockers {
		p := &replica{name: "replica" + fmt.Sprint(i+1)}
		if scenario.apart() {
			p.name = string(rune('A' + i))
		}
		w.replicas = append(w.replicas, p)
		a.wires[i].world = w
		lockers[i] = a.strategy.New(a.wires[i].client, lock.Options{
			Key: lock.Key, TTL: ttl, RetryInterval: retry, WaitTimeout: forever, Clock: virtualClock{w, p, retry},
			Process: p.name, MaxPasses: maxPasses, Bell: virtualBell{w, p},
		})
	}
	for i := range scenario.Actors {
		p := w.replicas[i%len(w.replicas)]
		b := &actor{index: i, name: string(rune('A' + i)), replica: p, try: i < scenario.Try}
		p.actors = append(p.actors, b)
		w.actors = append(w.actors, b)
		ctx, leave := context.WithCancel(context.Background())
		b.leave = leave
		sale := service.Sale{
			Locker: watched{w, b, lockers[i%len(lockers)]}, Stock: a.stores[i%len(lockers)], Clock: virtualClock{w, p, 0},
			Log: slog.New(slog.DiscardHandler), Watch: nobody{}, Replica: p.name, Think: scenario.Work, Nested: scenario.Nested,
		}
		b.main = w.spawn(b, func() {
			_, b.err = sale.Sell(ctx, history.Run{ID: runID, Lock: a.strategy.Name, Initial: stock}, b.name)
			b.finished = true
		})
	}
	w.ready = nil // they start when they are chosen
	return w
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
	case moves, losesReply, diesAfter:
		sent = w.move(w.routines[c.id], c.kind)
	case diesBefore:
		w.left.Crash--
		w.routines[c.id].actor.replica.dead = true
	case pausesAfter:
		sent = w.move(w.routines[c.id], c.kind)
	case pauses:
		w.left.Pause--
		w.replicas[c.id].paused = true
	case resumes:
		w.continues(w.replicas[c.id])
	case woken:
		w.rings(w.replicas[c.id])
	case unwoken:
		w.left.LostWake--
		w.rung(w.replicas[c.id]).due = false
	case leaves:
		w.left.Cancel--
		a := w.actors[c.id]
		a.cancelled = true
		w.note(a.replica, "cancel %d", a.index)
		a.leave()
	case timePasses:
		if w.redis.nextExpiry() == 0 && w.nextTimer() == nil {
			w.idle++
		}
		w.pass(w.nextEvent())
	case slow:
		w.left.Slow--
		w.pass(w.nextTimer().at)
	case expires:
		w.left.Expiry--
		w.pass(w.now + w.redis.nextExpiry())
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
	expiry, t := w.redis.nextExpiry(), w.nextTimer()
	switch {
	case t != nil && (expiry == 0 || t.at < w.now+expiry):
		return t.at
	case expiry == 0:
		return w.now + ttl
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
	next, err := w.memory.pass(w.redis, then-w.now)
	if err != nil {
		w.fail(err)
		return
	}
	w.now = then
	w.becomes(next)
}

// becomes changes what Redis holds.
func (w *world) becomes(next *state) {
	before := w.redis
	w.redis = next
	if before.content != next.content {
		w.version++
		w.idle = 0
	}
	w.judge.change(w, before)
}

// execute is what a connection does with what was sent.
func (w *world) execute(command []byte) ([]byte, error) {
	a, err := w.memory.ask(w.redis, w.now, command)
	if err != nil {
		w.fail(err)
		return nil, err
	}
	before, version, r := w.redis, w.version, w.current
	w.note(r.actor.replica, "reply %s %q", r.name, a.reply)
	w.story.reply(a.reply, len(r.pending))
	w.becomes(a.then)
	if r.try.commands++; r.try.commands == 1 {
		r.try.version = version
	}
	r.try.changed = r.try.changed || w.version != version
	r.try.at, r.try.sent, r.try.reply = w.now, slices.Clone(command), a.reply
	w.publish(a.published)
	w.judge.book(before, a.orders)
	if r.fate == replyLost {
		return nil, io.ErrUnexpectedEOF
	}
	return a.reply, nil
}

// sent is called when a command has taken effect.
func (w *world) sent(r *routine) {
	if r.fate == replyLost {
		w.note(r.actor.replica, "lost")
	}
	r.try.lost = r.try.lost || r.fate == replyLost
}

// fail ends the exploration for a reason that is no verdict.
func (w *world) fail(err error) { w.trouble = errors.Join(w.trouble, err) }

// note adds to what has happened to a process.
func (w *world) note(p *replica, format string, args ...any) {
	if p.dead {
		return
	}
	b := w.buffer[:0]
	b = fmt.Appendf(b, "%d %d ", p.past[0], p.past[1])
	b = fmt.Appendf(b, format, args...)
	w.buffer = b
	p.past = [2]uint64{maphash.Bytes(w.seeds[0], b), maphash.Bytes(w.seeds[1], b)}
}

// busy reports whether a goroutine of p has not ended.
func (w *world) busy(p *replica) bool {
	return slices.ContainsFunc(w.routines, func(r *routine) bool { return r.actor.replica == p && !r.ended })
}

// ticks reports whether a timer of p is still to fire.
func (w *world) ticks(p *replica) bool {
	return slices.ContainsFunc(w.timers, func(t *timer) bool { return t.replica == p })
}

// fingerprint tells states apart from which the future may differ.
func (w *world) fingerprint() [2]uint64 {
	b := w.buffer[:0]
	b = append(b, w.redis.text...)
	for _, p := range w.replicas {
		if p.dead || p.ended() && !w.busy(p) && !w.ticks(p) {
			b = append(b, "|gone"...) // it has no future, so its past does not matter
			continue
		}
		b = fmt.Appendf(b, "|%d %d %t", p.past[0], p.past[1], p.paused)
	}
	for _, r := range w.routines {
		if r.unread && !r.ended {
			b = fmt.Appendf(b, "|%s unread", r.name)
		}
		if r.asleep() && !r.ended {
			b = fmt.Appendf(b, "|%s %t %d", r.name, w.wouldRepeat(r), r.try.vain)
		}
	}
	for _, t := range w.timers {
		b = fmt.Appendf(b, "|%s %d", t.actor.name, t.at-w.now)
	}
	for _, l := range w.listeners {
		b = fmt.Appendf(b, "|%s %t", l.channel, l.due)
	}
	for _, a := range w.actors {
		if !a.started {
			b = fmt.Appendf(b, "|%t", w.backwards)
			break
		}
	}
	b = fmt.Appendf(b, "|%v %v %d %d", w.left, w.judge.holder, w.now, w.idle)
	for _, a := range w.actors {
		b = fmt.Appendf(b, "|%t", a.bereft)
	}
	w.buffer = b
	return [2]uint64{maphash.Bytes(w.seeds[0], b), maphash.Bytes(w.seeds[1], b)}
}
