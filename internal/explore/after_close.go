package explore

import (
	"context"
	"slices"

	"lockstep/internal/explore/engine"
	"lockstep/internal/lock"
)

// A process may hold resources beyond its sales, such as a session or the lock itself; it releases them when its lock is closed
// (lock.Closer). No step of a schedule closes a lock, since such a step would be possible at any time. A copy of the run in which the locks
// are closed shows whether something remains forever.

// leakedTasks returns the goroutines that continue although all sales of their process have ended and its lock is closed.
func (l lookahead) leakedTasks() []engine.Subject {
	if len(l.Engine.OutlivingTasks()) == 0 {
		return nil
	}
	closed, end := l.afterClose()
	defer end()
	return closed.Engine.OutlivingTasks()
}

// afterClose returns a copy of the run in which the processes whose sales have ended have closed their locks. If there is nothing to close,
// it returns the run itself, and end does nothing.
func (l lookahead) afterClose() (closed lookahead, end func()) {
	needsClose := func(p *engine.Process) bool {
		_, ok := l.lockers[slices.Index(l.Engine.Processes(), p)][0].(lock.Closer)
		return ok && p.IsOver()
	}
	if !slices.ContainsFunc(l.Engine.Processes(), needsClose) {
		return l, func() {}
	}
	closed, end = l.copyRun()
	var done []*engine.Process
	for _, a := range closed.Engine.Actors() {
		if p := a.Process; p.IsOver() && !slices.Contains(done, p) {
			done = append(done, p)
			closed.closeLocks(a)
		}
	}
	if err := closed.Engine.Err(); err != nil {
		l.Engine.Fail(err)
	}
	return closed, end
}

// closeLocks has an actor close the locks of its process.
func (l lookahead) closeLocks(a *engine.Actor) {
	p := a.Process
	locks := l.lockers[slices.Index(l.Engine.Processes(), p)]
	l.Engine.RunOffSchedule(a, func() {
		for _, locker := range locks {
			_ = lock.Close(context.Background(), p.Clock(0), locker) // a failed Close shows as a lock left behind
		}
	})
}

// isLeftBehind reports whether a lock remains that nobody can obtain, even after the processes whose sales have ended have closed their
// locks. It sets l.undecided if that cannot be decided.
func (l lookahead) isLeftBehind() bool {
	if !l.judge.HasRemains() || !l.isOrphaned() {
		return false
	}
	closed, end := l.afterClose()
	defer end()
	return closed == l || closed.judge.HasRemains() && closed.isOrphaned()
}
