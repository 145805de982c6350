package engine

import (
	"errors"
	"fmt"
	"slices"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// ErrUndeclaredPoll is returned when the code under test polls without lock.Poll, which declares that all attempts are the same, or when
// its attempts are not the same.
var ErrUndeclaredPoll = errors.New("the lock retries in a way that the explorer cannot follow: " +
	"let it wait by lock.Poll, and let a failed attempt leave nothing in Redis; or explore it with package locktest")

// maxUndeclared is the number of consecutive attempts that a waiter may make without lock.Poll. A few must be allowed: commands with pauses
// between them may look like attempts.
const maxUndeclared = 10

// poller describes the attempts at the lock that a task has made before its current one.
type poller struct {
	lastReplies Fingerprint // repliesHash of the last attempt
	futile      bool        // the last attempt got the same replies as the one before, and changed nothing
	undeclared  int         // consecutive attempts without lock.Poll
}

// recordPause records an attempt that ends with a pause. After a pause of lock.Poll the next attempt is the same; after any other pause the
// code may do something else.
func (t *Task) recordPause() {
	r, p := &t.round, &t.poller
	r.endEvents = t.actor.Process.eventCount
	isSame := r.repliesHash == p.lastReplies && !r.replyLost && !t.hasHelper()
	if p.undeclared++; !isSame || r.commandCount == 0 || t.isInPollSleep() {
		p.undeclared = 0
	}
	p.futile, p.lastReplies = isSame && !r.wrote, r.repliesHash
	if t.isInBriefSleep() && p.undeclared >= maxUndeclared {
		t.x.Fail(fmt.Errorf("%w%s", ErrUndeclaredPoll, callerLines()))
	}
}

// isInPollSleep reports whether t is in a pause of lock.Poll.
func (t *Task) isInPollSleep() bool { return lock.IsRetry(t.waitCtx) }

// isInLongSleep reports whether t sleeps for longer than a brief sleep, so that only time can end its sleep.
func (t *Task) isInLongSleep() bool {
	return t.waiting && t.waitTimer != nil && !t.waitTimer.isBrief && !t.waitTimer.stopped
}

// isInFutileSleep reports whether t sleeps after an attempt that got the same replies as the one before.
func (t *Task) isInFutileSleep() bool { return t.isInLongSleep() && t.poller.futile }

// sleeper returns the task that the timer wakes from a long sleep; nil if it wakes none.
func (tm *timer) sleeper() *Task {
	for _, task := range tm.x.tasks {
		if task.isInLongSleep() && task.waitTimer == tm && !task.Ended() {
			return task
		}
	}
	return nil
}

// hasOnlyFutilePolls reports whether the passing of time will bring nothing but attempts in vain.
func (x *Execution) hasOnlyFutilePolls() bool {
	return len(x.timers) > 0 && x.Cluster.NextExpiry() == 0 && !slices.ContainsFunc(x.timers, func(due *timer) bool {
		t := due.sleeper()
		return t == nil || !t.isInFutileSleep()
	})
}

// The number of times that CheckPolls has a waiter try again: pollRepeats if its attempts are in vain, leftoverRepeats if its attempts
// leave something in Redis.
const pollRepeats, leftoverRepeats = 20, 3

// CheckPolls has each waiter in a pause of lock.Poll try again many times, outside the schedule. lock.Poll declares that the attempts are
// the same, so the search skips those that would be in vain. CheckPolls fails with ErrUndeclaredPoll if such an attempt sends other
// commands than the attempt before, gets the lock, or extends an expiry; or if each attempt leaves something in Redis although no fault has
// happened. It skips waiters whose replies are in seen, and adds the replies of the others to seen.
func (x *Execution) CheckPolls(seen map[Fingerprint]struct{}) {
	for _, t := range x.tasks {
		if t.Ended() || !t.isLive() || !t.isInBriefSleep() || !t.isInPollSleep() {
			continue
		}
		if _, ok := seen[t.round.repliesHash]; ok {
			continue
		}
		if x.Cluster.OnNodes() && len(seen) >= pollRepeats { // the replies of nodes are never the same, so a few samples have to do
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

// retryInVain has t try again, and reports whether each attempt is the same and extends no expiry.
func retryInVain(t *Task) bool {
	var lastQueries []query // commands of the attempt before, whose round may have begun before its first command
	for n := range pollRepeats {
		retry(t)
		if t.waiting && !t.isInBriefSleep() && t.isInPollSleep() {
			return true // polling with growing pauses, now longer than a moment
		}
		isSame := !t.Ended() && t.isInBriefSleep() && t.isInPollSleep() && (n == 0 || slices.Equal(t.round.queries, lastQueries))
		if !isSame || t.round.extendsExpiry(t.x.Cluster, t.x.now) {
			return false
		}
		lastQueries = t.round.queries
	}
	return true
}

// hasLeftovers reports whether the round has left something in Redis.
func (r *round) hasLeftovers(c *simredis.Cluster) bool {
	return r.ownChanges.All > 0 && !c.HoldsSame(r.serversBefore)
}

// retryWithLeftovers has t try again, and reports whether each of its attempts leaves something in Redis.
func retryWithLeftovers(t *Task) bool {
	for range leftoverRepeats {
		if retry(t); t.Ended() || !t.isInBriefSleep() || !t.isInPollSleep() || !t.round.hasLeftovers(t.x.Cluster) {
			return false
		}
	}
	return true
}

// retry runs one attempt of t, including the pauses within it.
func retry(t *Task) {
	isPart := func(other *Task) bool { return other == t || other.parent == t }
	for range maxSteps {
		t.wake()
		if t.x.runCommands(isPart); t.Ended() || !t.isInBriefSleep() || t.isInPollSleep() {
			return
		}
	}
}
