package explore

import (
	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/lock"
)

// checkEnd looks at what is left when nothing more will happen.
func (f futures) checkEnd() {
	holder := f.Holder()
	abandoned := holder == nil || !f.BelievesInside(holder)
	if abandoned && f.isLeftBehind() {
		f.judge.Report(anomaly.LeftBehind, judge.StaysForEver)
	}
	for _, a := range f.Engine.Actors() {
		if !a.Finished() && !a.Dead() {
			f.judge.Report(anomaly.Stuck, judge.NeverGoesOn, a.Name)
		}
	}
}

// orphaned reports whether a lock that stays is of no use to anybody: one who comes an age later, with nobody else about, and waits until
// every expiry has come twice, does not get it. What a lock leaves that knows by itself when it expires, or whose keys are registers that
// stay, keeps nobody out. Nor does one that keeps nobody out at all: then a second one gets the key of the first.
func (f futures) orphaned() bool {
	later, end, err := f.newcomers(f.Engine.Cluster.Contents(), f.Engine.Now(), engine.Forever)
	if err != nil {
		f.Engine.Fail(err)
		return true
	}
	defer end()
	refused := !later.obtainsInTime(waiting) && later.judge.HasRemains() // if it does not stay, it has been given an expiry
	key, stays := f.Engine.Cluster.LockKey(lock.Key)
	both := stays && key.IsString() && later.canObtain(trying)
	// its code knows those who come by their names, or waits for a time that nothing in Redis tells
	if later.Engine.Err() != nil || refused && later.Engine.HasClockReadingWaiter() {
		f.undecided = true
		return false
	}
	return refused || both
}

// obtainsInTime reports whether an actor gets the lock before every expiry has come twice, though others have not begun.
func (f futures) obtainsInTime(actor int) bool {
	for until := expiryDeadline(f.Engine); !f.canObtain(actor); {
		if f.Engine.Now() >= until {
			return false
		}
		f.Engine.Apply(engine.Transition{Kind: engine.TimePasses})
	}
	return true
}

// canObtain reports whether an actor gets the lock by moves of its own.
func (f futures) canObtain(actor int) bool {
	itsOwn := func(t engine.Transition) bool {
		return t.Kind == engine.Moves && f.Engine.Subject(t).Actor == f.Engine.Actors()[actor]
	}
	return leads(f.Engine, itsOwn, func() bool { return f.judge.Sale(actor).HasLease() })
}
