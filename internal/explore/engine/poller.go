package engine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// ErrUnsaid means that the code under test polls, and does not say so.
var ErrUnsaid = errors.New("the lock asks again and again in a loop of its own around lock.Sleep, and is told the same: " +
	"let it ask by lock.Poll, which says that the next attempt is the last one once more")

// poller is what is known of a task that makes one round after the other.
type poller struct {
	told   Fingerprint // what its last round was told
	asked  []asked     // and what that asked
	silent bool        // that asked nothing
	still  bool        // nor will the next one
	vain   int         // how many rounds were told what the one before was, in a row, and changed nothing
	same   int         // how many were told so, whatever they changed

	answer answer // to what it asks, and when that will change
}

// unsaid is how many questions a waiter may ask, and be told the same, with pauses of a moment between them that are not lock.Poll's: they
// may be those of a list.
const unsaid = 10

// recordPause takes down a round that ends with a pause. If that is lock.Poll's, the next round is this one once more. After any other, the
// code may be about to ask something else.
func (x *polling) recordPause(t *Task) {
	r, p := &t.round, &t.poller
	silent, again := len(r.asked) == 0 && !r.lost, r.told == p.told && !r.lost && !x.helped(t)
	if p.still = silent && (t.retries() || p.silent); p.still {
		r.at = x.now
	}
	p.same++
	if !again || silent {
		p.same = 0
	}
	p.vain++
	if !again || r.did || silent && !p.still {
		p.vain = 0
	}
	p.told, p.asked, p.silent = r.told, r.asked, silent
	if p.same >= unsaid && t.asleep() && !t.retries() {
		x.Fail(fmt.Errorf("%w%s", ErrUnsaid, line()))
	}
}

// retries reports whether t is in a pause of lock.Poll.
func (t *Task) retries() bool { return lock.IsRetry(t.ctx) }

// isUnchanged reports whether t, which has looked at nothing but the memory of its process, would find that as it was: nothing has happened
// to the process since.
func (x *scheduler) isUnchanged(t *Task) bool {
	r := &t.round
	return t.poller.still && !x.helped(t) && r.notes == t.actor.Process.notes-r.noted && (!r.looked || r.at == x.now)
}

// isPaused reports whether t is in a pause that time ends: one of more than a moment.
func (t *Task) isPaused() bool {
	return t.waiting && t.sleep != nil && !t.sleep.brief && !t.sleep.stopped
}

// isPausedInVain reports whether t rests after a round that told it what the one before did.
func (t *Task) isPausedInVain() bool { return t.isPaused() && t.poller.vain > 0 }

// sleeper returns the task that a timer wakes from its rest, nil if it does something else.
func (x *scheduler) sleeper(due *timer) *Task {
	for _, t := range x.tasks {
		if t.isPaused() && t.sleep == due && !t.Ended() {
			return t
		}
	}
	return nil
}

// onlyPolls reports whether time will bring nothing but rounds of those who have asked in vain.
func (x *polling) onlyPolls() bool {
	if len(x.timers) == 0 || x.Cluster.NextExpiry() > 0 || slices.ContainsFunc(x.timers, func(due *timer) bool {
		t := x.sleeper(due)
		return t == nil || !t.isPausedInVain()
	}) {
		return false
	}
	_, last := x.Horizon()
	return last == x.now
}

// skim lets those go on who have asked in vain as often as the scenario says, and would be told the same again, until time brings something
// else. Otherwise each of their rounds, of which there may be hundreds up to an expiry, would be steps of its own.
func (x *polling) skim() {
	x.settle()
	for !x.EveryRound && x.skimRound() {
		x.beyond = true
		x.settle()
	}
}

// skimRound lets the next round in vain happen, and reports whether there was one.
func (x *polling) skimRound() bool {
	for _, t := range x.tasks {
		switch {
		case t.midway() && !t.actor.Dead() && !x.isAboutToRepeat(t):
			return false
		case t.Ended() || !t.live() || !t.actor.started:
		case t.subscribes, t.torn, t.pending != nil && !x.isAboutToRepeat(t), t.asleep() && !x.wouldRepeat(t):
			return false
		}
	}
	if slices.ContainsFunc(x.processes, func(p *Process) bool { return x.due(p) != nil }) {
		return false
	}
	for _, t := range x.tasks {
		if t.live() && t.pending != nil {
			x.ready = append(x.ready, t)
			return true
		}
	}
	if !x.TimerNext() || x.onlyPolls() {
		return false
	}
	next := x.nextTimer()
	t := x.sleeper(next)
	if t == nil || !x.enough(t) {
		return false
	}
	x.pass(next.at)
	return true
}

// enough reports whether t has asked in vain as often as the scenario says.
func (x *polling) enough(t *Task) bool { return t.poller.vain >= max(x.Scenario.PollsInVain(), 1) }

// isAboutToRepeat reports whether t is about to ask what it has asked in vain in its last round, and would be told the same.
func (x *polling) isAboutToRepeat(t *Task) bool {
	n := len(t.round.asked)
	if !x.enough(t) || n >= len(t.poller.asked) {
		return false
	}
	before := t.poller.asked[n]
	_, nothing := before.again(x.Cluster, x.now)
	return nothing && isSameBatch(before.sent, t.pending)
}

// isSameBatch reports whether these are the same commands.
func isSameBatch(these, those []redis.Cmder) bool {
	return slices.EqualFunc(these, those, func(a, b redis.Cmder) bool { return reflect.DeepEqual(a.Args(), b.Args()) })
}
