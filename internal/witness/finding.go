package witness

import "time"

// Finding is something that the witness saw and that is worth a sentence: see Says. Which of the fields it has, its kind says.
type Finding struct {
	Kind    FindingKind `json:"kind"`
	At      time.Time   `json:"at"`
	Subject string      `json:"by"`           // who did it, or to whom it happened: a sale, a replica, see Command.Holder, or a Redis
	Other   string      `json:"of,omitempty"` // whose lock or update it was; behind whom somebody waited; who else was inside

	Duration     Millis `json:"for_ms,omitempty"`
	Count        int    `json:"times,omitempty"`
	Tick         int    `json:"tick,omitempty"`
	Node         int    `json:"node,omitempty"` // on which of several masters it happened, without which Of has no majority
	Token        int64  `json:"token,omitempty"`
	LargerToken  int64  `json:"seen,omitempty"` // the larger token that the store had seen
	ReadStock    int64  `json:"read,omitempty"` // stocks
	WrittenStock int64  `json:"wrote,omitempty"`
}

// FindingKind names what was found.
type FindingKind string

// The findings.
const (
	RemovedLock       FindingKind = "removed"          // By removed Of's lock
	OverwroteLock     FindingKind = "overwrote"        // By took Of's lock by writing over it
	ProlongedLock     FindingKind = "prolonged"        // By set the expiry of Of's lock
	ExpiredAtWork     FindingKind = "expired-at-work"  // By's lock expired, For after it was set, while By worked
	Overlapped        FindingKind = "together"         // By and Of believed for For that they held the lock
	RefusedToken      FindingKind = "refused-token"    // the store refused By for its Token; it had Seen a larger one
	LostUpdate        FindingKind = "lost-update"      // By Wrote what it had computed from what it Read before Of wrote
	WroteLate         FindingKind = "wrote-late"       // By wrote, For after its lock had ended
	WaitedLong        FindingKind = "waited"           // By waited for For behind Of, and obtained the lock
	WaitedInVain      FindingKind = "waited-in-vain"   // By waited for For behind Of, and gave up
	WaitsForItself    FindingKind = "waits-for-itself" // By asked for a lock that it held itself, and waited for For, in vain
	LeftBehind        FindingKind = "left-behind"      // By's lock is nobody's any more, and never expires
	PolledOften       FindingKind = "polled"           // By asked for the lock Times times in vain
	LearnedOfLoss     FindingKind = "told"             // By was told that it had lost its lock
	RedisLostLock     FindingKind = "forgot"           // By, a Redis, lost Of's lock
	Unanswered        FindingKind = "unanswered"       // By asked for the lock, had no reply for For, and failed
	Overtaken         FindingKind = "overtaken"        // By waited while Times sales that had asked after it obtained the lock
	LockIdle          FindingKind = "idle"             // nobody was inside for For after Of, and By waited
	DiedHolding       FindingKind = "died-holding"     // By's replica died with By's lock, and Of waited for For more
	DiedInQueue       FindingKind = "passed-over"      // By's replica died in the queue; Of took its place, For after its turn had begun
	QueuePlaceExpired FindingKind = "place-expired"    // By's replica died in the queue; its place was gone before its turn, and Of came in
	RenewedAfterEnd   FindingKind = "renewed-on"       // Subject's lock was renewed Count times after Other, the last sale to need it, had ended

	RanTickTwice FindingKind = "ran-twice" // By ran the Tick that Of had begun to run before
	MissedTick   FindingKind = "missed"    // nobody ran the Tick

	SoldDespiteError FindingKind = "sold-untold"    // By's buyer was told that it was not sold, and it was
	DoubleSale       FindingKind = "double-sale"    // By was sold once more than its buyer was told
	NeverBooked      FindingKind = "never-booked"   // By's buyer was told that it was sold, and it was not
	InDoubtBooked    FindingKind = "doubt-booked"   // By's buyer was left in doubt, and it was sold
	InDoubtUnbooked  FindingKind = "doubt-unbooked" // By's buyer was left in doubt, and it was not sold

	// Those of a Story alone, which say how it came to the others.
	EnteredOccupied FindingKind = "came-in"  // By came in while Of was inside
	ReplicaPaused   FindingKind = "halted"   // By's replica was stopped
	ReplicaDied     FindingKind = "perished" // By's replica died
)
