package explore

import (
	"context"
	"slices"

	"lockstep/internal/explore/engine"
	"lockstep/internal/lock"
)

// What a process keeps beyond its sales, as a session or the lock itself, it gives back once its lock is closed (lock.Closer). In a
// schedule nobody closes it, as it would be a step at any time: whether it keeps something for ever is seen beside it.

// outlived gives the actors of goroutines that go on although all sales of their process have ended, and its lock is closed.
func (f futures) outlived() []*engine.Actor {
	all := f.Engine.ActorsOfOutlivingTasks()
	if len(all) == 0 {
		return nil
	}
	closed, end := f.closed()
	defer end()
	return closed.Engine.ActorsOfOutlivingTasks()
}

// closed gives what is where the run is, but that processes whose sales have ended have closed their locks; the same one if there is
// nothing to close.
func (f futures) closed() (closed futures, end func()) {
	keeps := func(p *engine.Process) bool {
		_, ok := f.lockers[slices.Index(f.Engine.Processes(), p)][0].(lock.Closer)
		return ok && p.IsOver()
	}
	if !slices.ContainsFunc(f.Engine.Processes(), keeps) {
		return f, func() {}
	}
	closed, end = f.again()
	var over []*engine.Process
	for _, a := range closed.Engine.Actors() {
		if p := a.Process; p.IsOver() && !slices.Contains(over, p) {
			over = append(over, p)
			locks := closed.lockers[slices.Index(closed.Engine.Processes(), p)]
			closed.Engine.RunOffSchedule(a, func() {
				for _, locker := range locks {
					_ = lock.Close(context.Background(), p.Clock(0), locker) // what a failed Close leaves is reported as left behind
				}
			})
		}
	}
	if err := closed.Engine.Err(); err != nil {
		f.Engine.Fail(err)
	}
	return closed, end
}

// isLeftBehind reports whether something is left behind although processes whose sales have ended have closed their locks.
func (f futures) isLeftBehind() bool {
	if !f.judge.HasRemains() || !f.orphaned() {
		return false
	}
	closed, end := f.closed()
	defer end()
	return closed == f || closed.judge.HasRemains() && closed.orphaned()
}
