package explore

import "slices"

// choice is one thing that the scheduler can let happen.
type choice struct {
	kind kind
	id   uint16 // of the routine, replica or actor that it happens to
}

type kind uint8

const (
	moves        kind = iota // a routine's next command is answered; or what it does without one
	losesReply               // its next command takes effect, and the reply is lost
	diesAfter                // its next command takes effect, and its process dies
	diesBefore               // its process dies, its commands unsent
	pausesAfter              // its next command takes effect, and its process stops before it has read the reply
	pauses                   // a process is stopped, its timers too
	resumes                  // and goes on
	woken                    // a hint reaches a process
	unwoken                  // a hint gets lost
	leaves                   // an actor's client goes away: its context is cancelled
	timePasses               // nobody can move: time goes on to the next timer or expiry
	slow                     // time goes on to the next timer, while somebody could still move
	expires                  // time goes on to the next expiry, while somebody could still move
	nodeCrashes              // a node refuses connections from then on
	nodeHangs                // a node does not answer any more
	nodeRestarts             // a node forgets what it held
)

// suffix is how a schedule writes what became of a command.
func (k kind) suffix() string {
	switch k {
	case losesReply:
		return "/lost"
	case diesAfter:
		return "/dies-after"
	case diesBefore:
		return "/dies-before"
	case pausesAfter:
		return "/pauses-after"
	case nodeCrashes:
		return "/node-crashes"
	case nodeHangs:
		return "/node-hangs"
	case nodeRestarts:
		return "/node-restarts"
	default:
		return ""
	}
}

// token is how a schedule writes c. Its command is known for certain only after it has happened.
func (w *world) token(c choice, command string) string {
	switch c.kind {
	case pauses:
		return w.who(c) + ":pauses"
	case resumes:
		return w.who(c) + ":resumes"
	case woken:
		return w.who(c) + ":woken"
	case unwoken:
		return w.who(c) + ":unwoken"
	case leaves:
		return w.who(c) + ":leaves"
	case timePasses:
		return "time"
	case slow:
		return "slow"
	case expires:
		return "expiry"
	default:
		return w.who(c) + ":" + command + c.kind.suffix()
	}
}

// who is the name of the one that c happens to.
func (w *world) who(c choice) string {
	switch c.kind {
	case timePasses, slow, expires:
		return ""
	case pauses, resumes, woken, unwoken:
		return w.replicas[c.id].name
	case leaves:
		return w.actors[c.id].name
	default:
		return w.routines[c.id].name
	}
}

// choices lists what can happen next, in a fixed order. There is none when everybody has finished, or nobody can go on.
func (w *world) choices() []choice {
	w.options, w.desperate = w.options[:0], false
	add := func(k kind, id int) { w.options = append(w.options, choice{k, uint16(id)}) } //nolint:gosec // there are few
	if w.over() {
		return w.options
	}
	for _, r := range w.routines {
		if !w.movable(r) {
			continue
		}
		add(moves, r.id)
		if w.left.LostReply > 0 {
			add(losesReply, r.id)
		}
		if w.left.Crash > 0 {
			add(diesAfter, r.id)
		}
		w.nodeFaults(r, add)
	}
	for i, p := range w.replicas {
		if w.rung(p) == nil || p.paused || p.dead {
			continue
		}
		add(woken, i)
		if w.left.LostWake > 0 {
			add(unwoken, i)
		}
	}
	active := len(w.options) > 0
	for i, p := range w.replicas {
		switch {
		case p.dead || !p.begun() || p.ended():
		case p.paused:
			add(resumes, i)
		default:
			if w.left.Pause > 0 {
				add(pauses, i)
			}
			if r := w.sender(p); r != nil && w.left.Crash > 0 {
				add(diesBefore, r.id)
			}
		}
	}
	for _, c := range slices.Clone(w.options) { // after the plain pauses, which are easier to read
		if c.kind == moves && w.left.Pause > 0 {
			add(pausesAfter, int(c.id))
		}
	}
	for i, a := range w.actors {
		if w.left.Cancel > 0 && a.started && !a.finished && !a.cancelled && !a.replica.dead {
			add(leaves, i)
		}
	}
	expiry, next := w.nextExpiry(), w.nextTimer()
	switch {
	case !active && (expiry > 0 || next != nil || w.mayIdle()):
		add(timePasses, 0)
	case !active && len(w.options) == 0: // before they are given up for stuck, they try once more
		for _, r := range w.routines {
			if r.asleep() && !r.ended && !r.actor.replica.dead && !r.actor.replica.paused && r.try.vain == 0 {
				w.desperate = true
				add(moves, r.id)
			}
		}
	case active && w.left.Slow > 0 && next != nil && (expiry == 0 || next.at < w.now+expiry):
		add(slow, 0)
	}
	if active && w.left.Expiry > 0 && expiry > 0 {
		add(expires, 0)
	}
	if !slices.ContainsFunc(w.options, choice.hopeful) {
		w.options = w.options[:0] // faults alone bring nobody on
	}
	return w.options
}

// hopeful reports whether c can bring somebody on.
func (c choice) hopeful() bool {
	return c.kind == moves || c.kind == woken || c.kind == timePasses || c.kind == resumes
}

// movable reports whether r can do something by itself. A waiter that tried in vain cannot, until it would learn
// something else.
func (w *world) movable(r *routine) bool {
	switch {
	case r.ended || r.actor.replica.dead || r.actor.replica.paused:
		return false
	case r == r.actor.main && !r.actor.started:
		return w.mayStart(r.actor)
	case r.pending != nil:
		return true
	default:
		return r.asleep() && !w.wouldRepeat(r)
	}
}

// mayIdle reports whether time may pass although nothing is due: somebody tries who may find that it has. Twice in a row is
// enough.
func (w *world) mayIdle() bool {
	return w.idle < 2 && slices.ContainsFunc(w.routines, func(r *routine) bool {
		return r.asleep() && !r.ended && !r.actor.replica.dead && !r.actor.replica.paused &&
			(r.try.looked || !w.answers(w.now+ttl, r.try))
	})
}

// mayStart keeps actors that start alike in order: who of them comes first is a matter of names. It is explored both forwards
// and backwards, for the sake of code that compares names.
func (w *world) mayStart(a *actor) bool {
	if w.bounds.EverySymmetry {
		return true
	}
	before := w.actors[:a.index]
	if w.backwards {
		before = w.actors[a.index+1:]
	}
	return !slices.ContainsFunc(before, func(b *actor) bool {
		return !b.started && b.try == a.try && (b.replica == a.replica || w.scenario.alike())
	})
}

// sender is the first routine of p that is about to send a command.
func (w *world) sender(p *replica) *routine {
	for _, r := range w.routines {
		if r.actor.replica == p && r.pending != nil && !r.ended {
			return r
		}
	}
	return nil
}

// nextTimer is the timer that will fire first.
func (w *world) nextTimer() *timer {
	var next *timer
	for _, t := range w.timers {
		if !t.replica.paused && !t.replica.dead && (next == nil || t.at < next.at) {
			next = t
		}
	}
	return next
}

// over reports whether every actor has finished or died.
func (w *world) over() bool {
	for _, a := range w.actors {
		if !a.finished && !a.replica.dead {
			return false
		}
	}
	return true
}
