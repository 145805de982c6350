package witness

// What becomes of a scheduled job, as its record in Redis tells. A run has a sale's name: r1#2 is the second that r1 has begun.
const (
	KindTick   Kind = "tick"   // a tick begins
	KindRuns   Kind = "runs"   // a run of a tick begins
	KindRan    Kind = "ran"    // it is over
	KindTries  Kind = "tries"  // a replica has asked for the job's lock, at some tick
	KindMissed Kind = "missed" // a tick is over that nobody has run, though no run was going on
)

// The findings about a scheduled job.
const (
	RanTwice FindingKind = "ran-twice" // By ran the Tick that Of had begun to run before
	Missed   FindingKind = "missed"    // nobody ran the Tick
)

// runs begins a run of a tick, and finds those that were run before.
func (a *Account) runs(s *Sale, event Event) {
	a.enter(s, event.Replied)
	if of, ran := a.ran[event.Tick]; ran {
		a.find(Finding{Kind: RanTwice, At: event.Replied, By: event.Sale, Of: of, Tick: event.Tick})
	} else {
		a.ran[event.Tick] = event.Sale
	}
}
