package engine

import (
	"errors"
	"fmt"
	"slices"

	"lockstep/internal/lock"
)

// ErrUnsaid means that the code under test polls in a way that it does not declare.
var ErrUnsaid = errors.New("the lock asks again and again, and lock.Poll does not say that its next attempt is the last one once more: " +
	"let it wait by lock.Poll, and leave nothing in Redis by an attempt that fails; or explore it with package locktest")

// unsaid is how many undeclared attempts a waiter may make in a row: they may be the commands of a list.
const unsaid = 10

// poller is what is known of the attempts that a task has made before its present one.
type poller struct {
	told       Fingerprint // what the last attempt was told
	inVain     bool        // the last attempt was told what the one before was, and has changed nothing
	undeclared int         // attempts in a row that lock.Poll does not describe
}

// recordPause takes down an attempt that ends with a pause. If that is lock.Poll's, the next attempt is this one once more. After any other,
// the code may be about to ask something else.
func (x *memories) recordPause(t *Task) {
	r, p := &t.round, &t.poller
	r.rested = t.actor.Process.notes
	again := r.told == p.told && !r.lost && !x.helped(t)
	undeclared := again && r.asks > 0
	if t.retries() {
		undeclared = r.did && !x.isTraceless(t) && !x.Faulted()
	}
	if p.undeclared++; !undeclared {
		p.undeclared = 0
	}
	p.inVain, p.told = again && !r.did, r.told
	if t.asleep() && p.undeclared >= unsaid {
		x.Fail(fmt.Errorf("%w%s", ErrUnsaid, line()))
	}
}

// retries reports whether t is in a pause of lock.Poll.
func (t *Task) retries() bool { return lock.IsRetry(t.ctx) }

// isPaused reports whether t is in a pause that time ends: one of more than a moment.
func (t *Task) isPaused() bool {
	return t.waiting && t.sleep != nil && !t.sleep.brief && !t.sleep.stopped
}

// isPausedInVain reports whether t rests after an attempt that told it what the one before did.
func (t *Task) isPausedInVain() bool { return t.isPaused() && t.poller.inVain }

// sleeper returns the task that a timer wakes from its rest, nil if it does something else.
func (x *scheduler) sleeper(due *timer) *Task {
	for _, t := range x.tasks {
		if t.isPaused() && t.sleep == due && !t.Ended() {
			return t
		}
	}
	return nil
}

// onlyPolls reports whether time will bring nothing but attempts of those who have asked in vain.
func (x *scheduler) onlyPolls() bool {
	return len(x.timers) > 0 && x.Cluster.NextExpiry() == 0 && !slices.ContainsFunc(x.timers, func(due *timer) bool {
		t := x.sleeper(due)
		return t == nil || !t.isPausedInVain()
	})
}

// attempts is how often CheckPolls has a waiter ask again.
const attempts = 20

// CheckPolls has each waiter that would ask in vain do so again and again, behind everybody's back: no schedule can say so. It fails with
// ErrUnsaid if an attempt asks for something else than the one before, gets the lock, or prolongs something: lock.Poll says that it is the
// same, so none is made while time passes.
func (x *Execution) CheckPolls() (waits bool) {
	for _, t := range x.tasks {
		if t.Ended() || !t.live() || !t.asleep() || !x.wouldRepeat(t) {
			continue
		}
		waits = true
		its := func(other *Task) bool { return other == t || other.parent == t }
		where := t.at(Stacks(), `\[`, true)
		var asked []question // by the attempt before; the last round may have begun before the first attempt
		for n := range attempts {
			x.wake(t)
			x.finish(its)
			if t.waiting && !t.asleep() && t.retries() {
				break // its pauses grow
			}
			same := !t.Ended() && t.asleep() && t.retries() && (n == 0 || slices.Equal(t.round.asked, asked))
			if !same || t.round.prolongs(x.Cluster, x.now) {
				x.Fail(fmt.Errorf("%w (%s)", ErrUnsaid, where))
				return true
			}
			asked = t.round.asked
		}
	}
	return waits
}
