package judge

import "lockstep/internal/anomaly"

// Finding is an anomaly, and how a schedule has shown it.
type Finding struct {
	Anomaly anomaly.Anomaly
	How     How
	Values  []any // of its sentence: names, numbers, times, an error, or a list of names
}

// How is one way to show an anomaly.
type How uint8

// The ways. Each names the values of its sentence; a sale is its name.
const (
	BothInside         How = iota // the sales
	AllInside                     // the sales
	Removes                       // who, whose lock
	LimitsExpiry                  // who, whose lock
	Shortens                      // who, whose lock
	Prolongs                      // who, whose lock
	Overwrites                    // who, whose lock
	UnlockDeniesLoss              // the sale
	UnlockDeniesHold              // the sale, what it says
	LossClaimed                   // the sale
	LeaveClaimed                  // the sale
	HolderClaimed                 // the sale
	Fails                         // the sale, why
	OutlivesHolder                // the sale, for how long
	StaysForEver                  // nothing
	GoroutineOutlives             // the sale
	SoldTwice                     // the order, the stock before and after
	Overwritten                   // the sale, what it writes, what it read, the stock
	WorksOn                       // the sale
	TokenNotLarger                // the earlier token, the later one
	NestedTokenDiffers            // the sale, the token, the outer one
	Overtaken                     // the sale, how often
	NeverGoesOn                   // the sale
	WaitsForItself                // the sale
	WaitsForOwnExpiry             // the sale
	WaitsForExpiry                // the sale
	Rewrites                      // who, whose lock, its values before and after
	hows
)
