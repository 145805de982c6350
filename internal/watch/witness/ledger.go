package witness

import "cmp"

// What the ledger holds in the end of a sale whose buyer got an answer. The event's Owner is the sale's, and its Error is the code that
// the buyer was told, empty if it was told that it was sold.
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

// inDoubt is the code that says that the sale may have been made.
const inDoubt = "outcome_unknown"

// compares finds what is worth a sentence of what a buyer was told, and of what the ledger has.
func (a *Account) compares(event Event) {
	found := Finding{At: event.Replied, By: cmp.Or(a.owners[event.Owner], event.Replica)} // a sale that never asked for the lock has no name
	switch booked := event.Kind == KindBooked; {
	case event.Kind == KindResold:
		found.Kind = DoubleSale
	case booked && event.Error == inDoubt:
		found.Kind = DoubtBooked
	case event.Error == inDoubt:
		found.Kind = DoubtUnbooked
	case booked && event.Error != "":
		found.Kind = SoldUntold
	case !booked && event.Error == "":
		found.Kind = NeverBooked
	default:
		return
	}
	a.find(found)
}
