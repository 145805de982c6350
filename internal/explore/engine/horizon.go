package engine

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/explore/simredis"
)

// Redis knows nothing of an expiry that is a time in a value, or that a script has in mind: time would not bring it by itself. It is known
// from what Redis holds, and from what it would answer.

// precision is how exactly it is known when an answer changes.
const precision = time.Millisecond

// Horizon returns until when an expiry is known to come that Redis knows nothing of, and that a waiter would notice: at the earliest, and
// at the latest. It is now if there is none.
func (x *polling) Horizon() (first, last time.Duration) {
	first, last = x.now, x.now
	for _, t := range x.tasks {
		if !t.live() || !t.asleep() && !t.isPaused() {
			continue
		}
		then := x.changesAnswer(t)
		if noted := x.written(); t.round.looked && noted+x.Ahead() > x.now {
			then = max(then, noted+x.Ahead()+precision)
		}
		if then > x.now && (first == x.now || then < first) {
			first = then
		}
		last = max(last, then)
	}
	return first, last
}

// beat lets waiters ask who say with each question that they live, and have been told the same as often as the scenario says. It reports
// whether all that anybody can do is to be told the same again, so that time may pass. Otherwise, each would be a step of its own.
func (x *polling) beat() bool {
	x.settle()
	if x.EveryRound || slices.ContainsFunc(x.processes, func(p *Process) bool { return x.due(p) != nil }) {
		return false
	}
	var beating []*Task
	for _, t := range x.tasks {
		switch {
		case t.Ended() || !t.live() || !t.actor.started:
		case t.acts():
			return false
		case t.asleep() && !x.wouldRepeat(t):
			if t.poller.same < max(x.Scenario.PollsInVain(), 1) || t.sleep.at > x.now || !t.round.sameReplies(x.Cluster, x.now) {
				return false
			}
			beating = append(beating, t)
		}
	}
	for _, t := range beating {
		if !x.beats(t) {
			return false
		}
	}
	x.beyond = x.beyond || len(beating) > 0
	return true
}

// beats lets t make another round, and reports whether it has made it, and was told the same.
func (x *polling) beats(t *Task) bool {
	x.wake(t, PollsOn)
	for !t.asleep() {
		n := len(t.round.asked)
		if t.pending == nil || n >= len(t.poller.asked) || !isSameBatch(t.pending, t.poller.asked[n].sent) {
			return false
		}
		if same, _ := t.poller.asked[n].again(x.Cluster, x.now); !same {
			return false
		}
		t.fate = Moves
		x.ready = append(x.ready, t)
		x.settle()
	}
	return t.poller.same > 0
}

// changesAnswer returns when the last command of t's last round would first have another reply, now if that is never. Replies are asked for
// at times that double, and then in between.
func (x *polling) changesAnswer(t *Task) time.Duration {
	asked := t.round.asked
	if len(asked) == 0 {
		asked = t.poller.asked
	}
	if len(asked) == 0 || asked[len(asked)-1].command == nil {
		return x.now
	}
	last := asked[len(asked)-1]
	known := t.poller.answer
	if known.holds == last.server.Holds && known.of == last.command && (known.changes == 0 || known.changes > x.now) {
		return max(known.changes, x.now)
	}
	changes := x.searchChange(last)
	t.poller.answer = answer{last.server.Holds, last.command, changes}
	return max(changes, x.now)
}

// answer is when a command would have another reply, as long as its server holds the same.
type answer struct {
	holds   *simredis.State
	of      *simredis.Command
	changes time.Duration // 0: never
}

func (x *polling) searchChange(of asked) time.Duration {
	same := func(then time.Duration) bool {
		same, _ := of.again(x.Cluster, then)
		return same
	}
	before, then := x.now, x.now+precision
	for ; same(then); before, then = then, x.now+2*(then-x.now) {
		if then > x.now+Forever {
			return 0
		}
	}
	for then-before > precision {
		if middle := before + (then-before)/2; same(middle) {
			before = middle
		} else {
			then = middle
		}
	}
	return then
}

// written returns the latest time, of at most an hour to come, that stands in a value of the lock's, and has not come by each clock; if
// there is none, one that has.
func (x *polling) written() (latest time.Duration) {
	latest = x.now - x.Ahead()
	for _, s := range x.Cluster.Servers() {
		for _, k := range s.Holds.Keys {
			if k.IsShops() {
				continue
			}
			for _, n := range numbers(k) {
				whole, part := math.Modf(n)
				then, unit, is := simredis.Since(int64(whole))
				then += time.Duration(part * float64(unit))
				if is && x.now-x.Scenario.Skew < then && then <= x.now+time.Hour {
					latest = max(latest, then)
				}
			}
		}
	}
	return latest
}

// numbers returns those in the values of a key.
func numbers(k simredis.Key) (all []float64) {
	for _, value := range k.Values {
		member, score, _ := strings.Cut(value, "\x00") // of a sorted set
		if n, err := strconv.ParseFloat(score, 64); err == nil {
			all = append(all, n)
		}
		for _, digits := range strings.FieldsFunc(member, func(r rune) bool { return r < '0' || '9' < r }) {
			if n, err := strconv.ParseFloat(digits, 64); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}
