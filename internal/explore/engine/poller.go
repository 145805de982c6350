package engine

import (
	"errors"
	"fmt"
	"slices"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// ErrUndeclaredPoll means that the code under test polls in a way that it does not declare.
var ErrUndeclaredPoll = errors.New("the lock asks again and again, and lock.Poll does not say that its next attempt is the last one " +
	"once more: let it wait by lock.Poll, and leave nothing in Redis by an attempt that fails; or explore it with package locktest")

// maxUndeclared is how many attempts in a row a waiter may make that lock.Poll does not describe: they may be the commands of a list.
const maxUndeclared = 10

// poller is what is known of the attempts that a task has made before its present one.
type poller struct {
	lastReplies Fingerprint // what the last attempt was told
	futile      bool        // the last attempt was told what the one before was, and has changed nothing
	undeclared  int         // attempts in a row that lock.Poll does not describe
}

// recordPause takes down an attempt that ends with a pause. If that is lock.Poll's, the next attempt is this one once more. After any
// other, the code may be about to ask something else.
func (t *Task) recordPause() {
	r, p := &t.round, &t.poller
	r.endEvents = t.actor.Process.eventCount
	again := r.repliesHash == p.lastReplies && !r.replyLost && !t.hasHelper()
	if p.undeclared++; !again || r.commandCount == 0 || t.isInPollSleep() {
		p.undeclared = 0
	}
	p.futile, p.lastReplies = again && !r.wrote, r.repliesHash
	if t.isInBriefSleep() && p.undeclared >= maxUndeclared {
		t.x.Fail(fmt.Errorf("%w%s", ErrUndeclaredPoll, callerLines()))
	}
}

// retries reports whether t is in a pause of lock.Poll.
func (t *Task) isInPollSleep() bool { return lock.IsRetry(t.waitCtx) }

// isPaused reports whether t is in a pause that time ends: one of more than a moment.
func (t *Task) isInLongSleep() bool {
	return t.waiting && t.waitTimer != nil && !t.waitTimer.isBrief && !t.waitTimer.stopped
}

// isPausedInVain reports whether t rests after an attempt that told it what the one before did.
func (t *Task) isInFutileSleep() bool { return t.isInLongSleep() && t.poller.futile }

// sleeper returns the task that a timer wakes from its rest, nil if it does something else.
func (t *timer) sleeper() *Task {
	for _, task := range t.x.tasks {
		if task.isInLongSleep() && task.waitTimer == t && !task.Ended() {
			return task
		}
	}
	return nil
}

// onlyPolls reports whether time will bring nothing but attempts of those who have asked in vain.
func (x *Execution) hasOnlyFutilePolls() bool {
	return len(x.timers) > 0 && x.Cluster.NextExpiry() == 0 && !slices.ContainsFunc(x.timers, func(due *timer) bool {
		t := due.sleeper()
		return t == nil || !t.isInFutileSleep()
	})
}

// How often CheckPolls has a waiter ask again: one that would ask in vain, and one whose attempts leave something in Redis.
const pollRepeats, leftoverRepeats = 20, 3

// CheckPolls has each waiter in a pause of lock.Poll ask again and again, behind everybody's back: no schedule can say so. It fails with
// ErrUndeclaredPoll if an attempt in vain asks for something else than the one before, gets the lock, or prolongs something, as lock.Poll says
// that it is the same, and so none is made while time passes; or if each attempt leaves something in Redis though nothing went wrong. A waiter
// that was told the same as one in seen is left alone.
func (x *Execution) CheckPolls(seen map[Fingerprint]struct{}) {
	for _, t := range x.tasks {
		if t.Ended() || !t.isLive() || !t.isInBriefSleep() || !t.isInPollSleep() {
			continue
		}
		if _, known := seen[t.round.repliesHash]; known || x.Cluster.OnNodes() && len(seen) >= pollRepeats { // nodes never tell the same
			continue
		}
		seen[t.round.repliesHash] = struct{}{}
		x.checksPolls = true
		where := t.linesInState(Stacks(), `\[`, true)
		if t.wouldRepeat() && !retryInVain(t) || t.round.hasLeftovers(x.Cluster) && !x.Faulted && retryWithLeftovers(t) {
			x.Fail(fmt.Errorf("%w (%s)", ErrUndeclaredPoll, where))
			return
		}
	}
}

// retryInVain has t ask again and again, and reports whether each attempt is the same and prolongs nothing.
func retryInVain(t *Task) bool {
	var asked []query // by the attempt before; the last round may have begun before the first attempt
	for n := range pollRepeats {
		retry(t)
		if t.waiting && !t.isInBriefSleep() && t.isInPollSleep() {
			return true // its pauses grow
		}
		same := !t.Ended() && t.isInBriefSleep() && t.isInPollSleep() && (n == 0 || slices.Equal(t.round.queries, asked))
		if !same || t.round.prolongs(t.x.Cluster, t.x.now) {
			return false
		}
		asked = t.round.queries
	}
	return true
}

// hasLeftovers reports whether the round has left something in Redis.
func (r *round) hasLeftovers(c *simredis.Cluster) bool {
	return r.ownChanges.All > 0 && !c.HoldsSame(r.serversBefore)
}

// retryWithLeftovers has t ask again, and reports whether each of its attempts leaves something in Redis, too.
func retryWithLeftovers(t *Task) bool {
	for range leftoverRepeats {
		if retry(t); t.Ended() || !t.isInBriefSleep() || !t.isInPollSleep() || !t.round.hasLeftovers(t.x.Cluster) {
			return false
		}
	}
	return true
}

// retry lets t make an attempt, through the pauses within it.
func retry(t *Task) {
	its := func(other *Task) bool { return other == t || other.parent == t }
	for range maxSteps {
		t.wake()
		if t.x.runCommands(its); t.Ended() || !t.isInBriefSleep() || t.isInPollSleep() {
			return
		}
	}
}
