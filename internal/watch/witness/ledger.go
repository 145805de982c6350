package witness

import (
	"cmp"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// What the ledger holds in the end of a sale whose buyer got an answer. The event's Owner is the sale's, and its Code is what the
// buyer was told, empty if it was told that it was sold.
const (
	KindBooked   Kind = "booked"   // the ledger has its order
	KindUnbooked Kind = "unbooked" // it has not
	KindResold   Kind = "resold"   // it has its order more than once
)

// The findings about what buyers were told.
const (
	SoldUntold    FindingKind = "sold-untold"    // By's buyer was told that it was not sold, and it was
	DoubleSale    FindingKind = "double-sale"    // By was sold once more than its buyer was told
	NeverBooked   FindingKind = "never-booked"   // By's buyer was told that it was sold, and it was not
	DoubtBooked   FindingKind = "doubt-booked"   // By's buyer was left in doubt, and it was sold
	DoubtUnbooked FindingKind = "doubt-unbooked" // By's buyer was left in doubt, and it was not sold
)

// compares finds what is worth a sentence of what a buyer was told, and of what the ledger has.
func (a *Account) compares(event Event) {
	found := Finding{At: event.Replied, By: cmp.Or(a.owners[event.Owner], event.Replica)} // a sale that never asked for the lock has no name
	switch booked, inDoubt := event.Kind == KindBooked, event.Code == lock.CodeOf(service.ErrOutcomeUnknown); {
	case event.Kind == KindResold:
		found.Kind = DoubleSale
	case booked && inDoubt:
		found.Kind = DoubtBooked
	case inDoubt:
		found.Kind = DoubtUnbooked
	case booked && event.Code != "":
		found.Kind = SoldUntold
	case !booked && event.Code == "":
		found.Kind = NeverBooked
	default:
		return
	}
	a.find(found)
}
