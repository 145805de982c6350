package witness

import "time"

// Finding is something that the witness saw and that is worth a sentence: see Says. Which of the fields it has, its kind says.
type Finding struct {
	Kind FindingKind `json:"kind"`
	At   time.Time   `json:"at"`
	By   string      `json:"by"`           // who did it, or to whom it happened: a sale, a replica, see Command.Holder, or a Redis
	Of   string      `json:"of,omitempty"` // whose lock or update it was; behind whom somebody waited; who else was inside

	For   Millis `json:"for_ms,omitempty"`
	Times int    `json:"times,omitempty"`
	Tick  int    `json:"tick,omitempty"`
	Node  int    `json:"node,omitempty"` // on which of several masters it happened, without which Of has no majority
	Token int64  `json:"token,omitempty"`
	Seen  int64  `json:"seen,omitempty"` // the larger token that the store had seen
	Read  int64  `json:"read,omitempty"` // stocks
	Wrote int64  `json:"wrote,omitempty"`
}

// FindingKind names what was found.
type FindingKind string

// The findings.
const (
	Removed        FindingKind = "removed"          // By removed Of's lock
	Overwrote      FindingKind = "overwrote"        // By took Of's lock by writing over it
	Prolonged      FindingKind = "prolonged"        // By set the expiry of Of's lock
	ExpiredAtWork  FindingKind = "expired-at-work"  // By's lock expired, For after it was set, while By worked
	Together       FindingKind = "together"         // By and Of believed for For that they held the lock
	RefusedToken   FindingKind = "refused-token"    // the store refused By for its Token; it had Seen a larger one
	LostUpdate     FindingKind = "lost-update"      // By Wrote what it had computed from what it Read before Of wrote
	WroteLate      FindingKind = "wrote-late"       // By wrote, For after its lock had ended
	Waited         FindingKind = "waited"           // By waited for For behind Of, and obtained the lock
	WaitedInVain   FindingKind = "waited-in-vain"   // By waited for For behind Of, and gave up
	WaitsForItself FindingKind = "waits-for-itself" // By asked for a lock that it held itself, and waited for For, in vain
	LeftBehind     FindingKind = "left-behind"      // By's lock is nobody's any more, and never expires
	Polled         FindingKind = "polled"           // By asked for the lock Times times in vain
	Told           FindingKind = "told"             // By was told that it had lost its lock
	Forgot         FindingKind = "forgot"           // By, a Redis, lost Of's lock
	Unanswered     FindingKind = "unanswered"       // By asked for the lock, had no reply for For, and failed
	Overtaken      FindingKind = "overtaken"        // By waited while Times sales that had asked after it obtained the lock
	Idle           FindingKind = "idle"             // nobody was inside for For after Of, and By waited
	DiedHolding    FindingKind = "died-holding"     // By's replica died with By's lock, and Of waited for For more
	PassedOver     FindingKind = "passed-over"      // By's replica died in the queue; Of took its place, For after its turn had begun
	PlaceExpired   FindingKind = "place-expired"    // By's replica died in the queue; its place was gone before its turn, and Of came in
	RenewedOn      FindingKind = "renewed-on"       // By's lock was renewed Times times after Of, the last sale that could need it, had ended

	RanTwice FindingKind = "ran-twice" // By ran the Tick that Of had begun to run before
	Missed   FindingKind = "missed"    // nobody ran the Tick

	SoldUntold    FindingKind = "sold-untold"    // By's buyer was told that it was not sold, and it was
	DoubleSale    FindingKind = "double-sale"    // By was sold once more than its buyer was told
	NeverBooked   FindingKind = "never-booked"   // By's buyer was told that it was sold, and it was not
	DoubtBooked   FindingKind = "doubt-booked"   // By's buyer was left in doubt, and it was sold
	DoubtUnbooked FindingKind = "doubt-unbooked" // By's buyer was left in doubt, and it was not sold

	// Those of a Story alone, which say how it came to the others.
	CameIn   FindingKind = "came-in"  // By came in while Of was inside
	Halted   FindingKind = "halted"   // By's replica was stopped
	Perished FindingKind = "perished" // By's replica died
)
