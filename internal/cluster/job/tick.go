// Package job runs a job once a tick, however many replicas there are: at each tick every replica attempts to get the lock, and the one
// that gets it runs the job. gocron is the scheduler; Locker is our lock with gocron's interface; Record has the runs, and Tally counts
// afterwards how often each tick was run.
//
// What a lock gives a job: without one (v0, atomic, optimistic), every replica runs each tick. With v1 no tick is
// run after a holder has died. With v2 to v5 a run longer than its tick overlaps the next one; with v2 its late Unlock also frees the lock
// of that one. With v6 to v11 and redlock, ticks are left out while a run goes on.
package job

import "time"

// TickLength is the length of a tick. Ticks are its multiples since the zero time, so that replicas need only their clocks to agree on
// them.
//
// A tick is run once because the lock outlives the job: a lock that was released at once would be free again for a replica whose clock is
// a few milliseconds behind. In each tick
//
//	0                  2/5   1/2                   1
//	├ attempts ─────────┤ to get the lock
//	├ it is kept ───────┤ from when it was taken
//	├ its expiry ─────────────┤ from then, too
//
// so the lock is gone before the next tick, whether it was released or its holder died. That holds even if the dead replica renewed it
// last of all: a third of the expiry is 1/6 of a tick, so the last renewal is at 1/3 of the tick, and 1/3 + 1/2 is less than 1. A tick is
// not run twice as long as the difference of the replicas' clocks and their delay are less than 2/5 of a tick together.
type TickLength time.Duration

// String returns the length as time.Duration.String does.
func (e TickLength) String() string { return time.Duration(e).String() }

// Tick returns the tick that a replica runs now: the last one, or the next one if it is near, because a timer may fire a moment before the
// wall clock reaches the tick.
func (e TickLength) Tick(now time.Time) time.Time {
	every := time.Duration(e)
	return now.Add(every / 4).Truncate(every)
}

// AddTicks returns the n-th tick after a tick.
func (e TickLength) AddTicks(tick time.Time, n int) time.Time {
	return tick.Add(time.Duration(n) * time.Duration(e))
}

// IsLate reports whether it is too late to run the tick of now, because another replica may have held the lock and released it.
func (e TickLength) IsLate(now time.Time) bool { return now.Sub(e.Tick(now)) >= e.KeepTime() }

// KeepTime returns the shortest time for which the lock is held.
func (e TickLength) KeepTime() time.Duration { return time.Duration(e) * 2 / 5 }

// Expiry returns the expiry that the lock should have.
func (e TickLength) Expiry() time.Duration { return time.Duration(e) / 2 }

// RunWindow returns the time after which a tick can no longer be run, except by a replica that was paused.
func (e TickLength) RunWindow() time.Duration { return time.Duration(e) / 2 }

// clock formats a tick as the time of day, with milliseconds if ticks are not whole seconds.
func (e TickLength) clock(tick time.Time) string {
	if time.Duration(e)%time.Second == 0 {
		return tick.Local().Format(time.TimeOnly)
	}
	return tick.Local().Format(time.TimeOnly + ".000")
}
