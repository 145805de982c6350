package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/explore/execution"
	"lockstep/internal/lock"
	"lockstep/internal/trace"
)

// says tells what t did.
func (r *Recorder) says(t execution.Transition, before view) string {
	a := r.x.Actor(t)
	switch t.Kind {
	case execution.TimePasses, execution.Slow, execution.Expires:
		return r.saysOfTime(before)
	case execution.Woken:
		return a.Process.Title() + " is woken"
	case execution.Unwoken:
		return "the hint that should wake " + a.Process.Title() + " gets lost"
	case execution.Pauses:
		return a.Process.Title() + " stops, timers and all"
	case execution.Resumes:
		return a.Process.Title() + " goes on"
	case execution.Leaves:
		return a.Name + "'s client goes away"
	case execution.LosesRequest, execution.Delays, execution.FailsOver, execution.TimesOut, execution.ClockJumps,
		execution.RedisClockJumps, execution.WokenInVain:
		return r.saysOfFault(t.Kind, before, a)
	default:
		return r.saysOfMove(before, a)
	}
}

// saysOfMove tells what a's step did.
func (r *Recorder) saysOfMove(before view, a *execution.Actor) string {
	step := r.step
	switch {
	case step.Command == "" && step.Kind == trace.KindDies:
		return a.Name + " dies"
	case step.Kind == trace.KindBegins:
		return a.Name + " begins an attempt"
	case step.Kind == trace.KindWaits && !before.began[a.Index]:
		return a.Name + " begins, and waits"
	case step.Kind == trace.KindWaits:
		return a.Name + " waits"
	}
	var says string
	if step.Command != "" {
		if says = r.saysOfLock(before, a); says == "" {
			says = r.saysOfStock(before, a)
		}
		if says == "" && r.about(lock.Key) {
			says = r.found(a)
		}
		says = r.befell() + says
	}
	if before.told[a.Index] {
		says += ", which was on its way"
	}
	switch step.Kind {
	case trace.KindLostReply:
		says += ", but never gets the reply"
	case trace.KindResends:
		says += ", but never gets the reply: its client sends the command again"
	case trace.KindArrives:
		says = cmp.Or(says, "it makes no difference") + ": the command was late"
	case trace.KindUnsynced:
		says += "; a replica gets neither this nor what follows"
	case trace.KindNodeClock:
		says += ", on a node whose clock has jumped ahead"
	case trace.KindDies:
		says += ", and dies"
	case trace.KindReadsLate:
		says += ", but stops before it has read the reply"
	}
	return says
}

// saysOfStock tells what a's command did with the stock, "" if nothing.
func (r *Recorder) saysOfStock(before view, a *execution.Actor) string {
	left, reply := r.x.Cluster.Stored().Stock(), r.step.Reply
	switch {
	case left != before.stock:
		return a.Name + " writes stock " + left
	case !r.about(dao.InventoryKey):
		return ""
	case strings.HasSuffix(reply, "[0]"), reply == "0":
		return a.Name + " is refused: its token is stale"
	case r.token == "readFenced" || strings.HasPrefix(r.step.Command, "GET "):
		return a.Name + " reads stock " + left
	default:
		return a.Name + " writes stock " + left
	}
}

// about reports whether the step's command names a key.
func (r *Recorder) about(key string) bool {
	return slices.Contains(strings.Fields(r.step.Command), key)
}

// saysOfTime tells what passing time did.
func (r *Recorder) saysOfTime(before view) string {
	return fmt.Sprintf("%v later", (r.x.Now()-before.now).Round(time.Millisecond)) + r.expired(before)
}

// changes tells what has changed for the actors.
func (r *Recorder) changes(before view) []string {
	var says []string
	for i, a := range r.x.Actors() {
		if r.checker.Told(a) && !before.told[i] {
			says = append(says, a.Name+" is told that it lost the lock")
		}
		switch {
		case !a.Finished() || before.ended[i] || a.Dead():
		case a.Err() == nil:
			says = append(says, a.Name+" has sold")
		default:
			says = append(says, a.Name+" fails: "+inShort(a.Err()))
		}
	}
	return says
}

// inShort says why a sale failed, without what it was doing.
func inShort(err error) string {
	for _, known := range []error{
		lock.ErrNotObtained, lock.ErrTimeout, lock.ErrLost, lock.ErrCancelled, lock.ErrOutcomeUnknown, lock.ErrUnavailable,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}
