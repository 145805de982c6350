// Package job runs a job once a tick, however many replicas want to: each tries the lock when the tick comes, and the one that gets
// it runs the job. gocron is the scheduler; Locker is our lock as gocron takes it; Runs is their record, and
// Tally says afterwards what became of each tick.
package job

import "time"

// Every is the length of a tick. Ticks are its multiples since the zero time, so that replicas agree on them by their clocks alone.
//
// What makes it once a tick is that the lock outlives the job: given back at once, it would be free again for a replica whose clock is a
// few milliseconds behind. Of each tick,
//
//	0                  2/5   1/2                   1
//	├ the lock is tried ┤
//	├ and kept ─────────┤ from when it was taken
//	├ its expiry ─────────────┤ likewise
//
// so a lock that was given back, and one of a replica that died, is gone before the next tick, even if the last thing that the dead one
// did was to renew it (a third of the expiry is 1/6 of a tick: at 1/3 for the last time, and 1/3 + 1/2 is less than 1). It is not run
// twice as long as the replicas' clocks are apart, and late, by less than 2/5 of a tick together.
type Every time.Duration

// Tick is the tick that a replica is here for: the last one, or the next if that is near, for a timer may ring a moment before the
// wall clock says so.
func (e Every) Tick(now time.Time) time.Time {
	every := time.Duration(e)
	return now.Add(every / 4).Truncate(every)
}

// Late reports whether it is too late for the tick: who had the lock may have given it back.
func (e Every) Late(now time.Time) bool { return now.Sub(e.Tick(now)) >= e.Keep() }

// Keep is how long the lock is kept, at least.
func (e Every) Keep() time.Duration { return time.Duration(e) * 2 / 5 }

// Expiry is the expiry the lock should have.
func (e Every) Expiry() time.Duration { return time.Duration(e) / 2 }

// Over is how long after its beginning nobody runs a tick any longer, unless late beyond all measure.
func (e Every) Over() time.Duration { return time.Duration(e) / 2 }
