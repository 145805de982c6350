package witness

import "time"

// Finding is a diagnosis that the account has made. Sentence returns it as a sentence. Kind determines which of the fields are set. Both
// parties are named as in Holding.Holder.
type Finding struct {
	Kind    FindingKind `json:"kind"`         // kind of the diagnosis
	At      time.Time   `json:"at"`           // time at which it happened
	Subject string      `json:"by"`           // sale, replica or Redis that acted or was affected; empty: unknown
	Other   string      `json:"of,omitempty"` // other party: lock owner, writer, sale waited for, or sale in the critical section

	Duration     Millis `json:"for_ms,omitempty"` // length of the wait, the overlap, the delay or the expiry
	Count        int    `json:"times,omitempty"`  // number of attempts, renewals or sales
	Tick         int    `json:"tick,omitempty"`   // 1-based tick of a job
	Cache        bool   `json:"cache,omitempty"`  // the job computes a cached value
	Node         int    `json:"node,omitempty"`   // 1-based Redlock master whose loss cost Other its majority; 0: the only Redis
	Token        int64  `json:"token,omitempty"`  // fencing token of the refused write
	LargerToken  int64  `json:"seen,omitempty"`   // larger fencing token that the store had seen
	ReadStock    int64  `json:"read,omitempty"`   // stock that the sale had read
	WrittenStock int64  `json:"wrote,omitempty"`  // stock that the sale wrote
}

// FindingKind is the kind of a diagnosis.
type FindingKind string

// The kinds of findings. The comments refer to the fields of Finding.
const (
	RemovedLock       FindingKind = "removed"          // Subject removed Other's lock
	OverwroteLock     FindingKind = "overwrote"        // Subject took Other's lock by overwriting it
	ExtendedLock      FindingKind = "prolonged"        // Subject set the expiry of Other's lock
	ExpiredAtWork     FindingKind = "expired-at-work"  // Subject's lock expired, Duration after it was set, while Subject was at work
	Overlapped        FindingKind = "together"         // Subject and Other were in the critical section together for Duration
	RefusedToken      FindingKind = "refused-token"    // the store refused Subject's Token, because it had seen LargerToken
	LostUpdate        FindingKind = "lost-update"      // Subject wrote WrittenStock, computed from ReadStock, read before Other's write
	WroteLate         FindingKind = "wrote-late"       // Subject wrote the stock Duration after its lock had ended
	WaitedLong        FindingKind = "waited"           // Subject waited for Duration behind Other, and obtained the lock
	WaitedInVain      FindingKind = "waited-in-vain"   // Subject waited for Duration behind Other, and gave up
	WaitsForItself    FindingKind = "waits-for-itself" // Subject waited in vain for Duration for a lock that it held itself
	LeftBehind        FindingKind = "left-behind"      // Subject has ended, and its lock never expires
	PolledOften       FindingKind = "polled"           // Subject asked for the lock Count times in vain
	LearnedOfLoss     FindingKind = "told"             // Subject learned that it had lost its lock
	RedisLostLock     FindingKind = "forgot"           // Subject, a Redis, lost Other's lock
	Unanswered        FindingKind = "unanswered"       // Subject asked for the lock, had no reply for Duration, and failed
	Overtaken         FindingKind = "overtaken"        // Subject waited while Count sales that had asked later obtained the lock
	LockIdle          FindingKind = "idle"             // the critical section was empty for Duration after Other, while Subject waited
	DiedHolding       FindingKind = "died-holding"     // Subject's replica died with the lock, and Other waited Duration longer
	DiedInQueue       FindingKind = "passed-over"      // Subject's replica died in the queue; Other entered Duration after its turn came
	QueuePlaceExpired FindingKind = "place-expired"    // Subject's replica died in the queue, and its place expired before its turn came
	RenewedAfterEnd   FindingKind = "renewed-on"       // Subject's lock was renewed Count times after the last sale that needed it, Other

	RanTickTwice FindingKind = "ran-twice" // Subject ran the job for Tick, although Other had begun to run it
	MissedTick   FindingKind = "missed"    // no replica ran the job for Tick

	SoldDespiteError FindingKind = "sold-untold"    // the buyer's answer was a failure, and the ledger has Subject's order
	DoubleSale       FindingKind = "double-sale"    // the ledger has more orders of Subject than its buyer placed
	NeverBooked      FindingKind = "never-booked"   // the buyer's answer was a success, and the ledger lacks Subject's order
	InDoubtBooked    FindingKind = "doubt-booked"   // the buyer's answer was outcome unknown, and the ledger has Subject's order
	InDoubtUnbooked  FindingKind = "doubt-unbooked" // the buyer's answer was outcome unknown, and the ledger lacks Subject's order

	// Kinds that only a story has: the causes of other findings.
	EnteredOccupied FindingKind = "came-in"  // Subject entered the critical section while Other was in it
	ReplicaPaused   FindingKind = "halted"   // Subject's replica was paused
	ReplicaDied     FindingKind = "perished" // Subject's replica died
)
