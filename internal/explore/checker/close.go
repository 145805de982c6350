package checker

import (
	"context"
	"slices"

	"lockstep/internal/explore/engine"
	"lockstep/internal/lock"
)

// What a process keeps beyond its sales, as a session or the lock itself, it gives back once its lock is closed (lock.Closer). Nobody
// closes it in a schedule, as that would be a step at any time: whether it keeps something for ever is seen beside it.

// outlived gives the actors of goroutines that go on although all sales of their process have ended, and its lock is closed.
func (c *Checker) outlived() []*engine.Actor {
	all := c.x.Outlived()
	if len(all) == 0 {
		return nil
	}
	closed, end := c.closed()
	defer end()
	return closed.x.Outlived()
}

// closed gives a checker that is where the schedule is, but that processes whose sales have ended have closed their locks; the same one if
// there is nothing to close.
func (c *Checker) closed() (closed *Checker, end func()) {
	keeps := func(s *sale) bool {
		_, is := s.locker.(lock.Closer)
		return is && c.x.IsOver(s.actor.Process)
	}
	if c.futures.Again == nil || !slices.ContainsFunc(c.sales, keeps) {
		return c, func() {}
	}
	closed, end = c.futures.Again()
	var over []*engine.Process
	for _, s := range closed.sales {
		if p := s.actor.Process; closed.x.IsOver(p) && !slices.Contains(over, p) {
			over = append(over, p)
			closed.x.Finish(s.actor, func() { _ = lock.Close(context.Background(), closed.x.Clock(p, 0), s.locker) }) // or what it keeps stays
		}
	}
	if err := closed.x.Err(); err != nil {
		c.x.Fail(err)
	}
	return closed, end
}

// stays reports whether something is left behind although processes whose sales have ended have closed their locks.
func (c *Checker) stays() bool {
	if !c.hasRemains() || !c.orphaned() {
		return false
	}
	closed, end := c.closed()
	defer end()
	return closed == c || closed.hasRemains() && closed.orphaned()
}
