package judge

import "lockstep/internal/anomaly"

// Detection is an anomaly that a run has shown, and the symptom by which it showed.
type Detection struct {
	Anomaly anomaly.Anomaly
	Symptom Symptom
	Values  []any // arguments of the symptom's sentence: names, numbers, durations, an error, or a list of names
}

// Symptom is one way in which an anomaly shows. Each has a sentence in texts.
type Symptom uint8

// The symptoms. The comment of each lists the arguments of its sentence; a sale is given by its name.
const (
	TwoEntered            Symptom = iota // the sales
	SeveralEntered                       // the sales
	ForeignRemoval                       // the acting sale, the lock's owner
	ForeignExpiry                        // the acting sale, the lock's owner
	ForeignShortening                    // the acting sale, the lock's owner
	ForeignRenewal                       // the acting sale, the lock's owner
	ForeignOverwrite                     // the acting sale, the lock's owner
	UnlockHidesLoss                      // the sale
	UnlockDeniesHolding                  // the sale, the error that Unlock returned
	FalseLossNotice                      // the sale
	FalseCancellation                    // the sale
	FalseRefusal                         // the sale
	SaleFails                            // the sale, its error
	LockOutlivesHolder                   // the dead holder, the remaining TTL
	LockStaysForever                     // no arguments
	GoroutineOutlivesSale                // the sale
	SoldTwice                            // the order, the stock before and after
	StaleWrite                           // the sale, the stock it writes, the stock it read, the actual stock
	WorksWithoutLock                     // the sale
	TokenNotLarger                       // the earlier token, the later one
	NestedTokenDiffers                   // the sale, its nested token, its outer token
	SaleOvertaken                        // the sale, how many times it was overtaken
	SaleBlockedForever                   // the sale
	WaitsForItself                       // the sale
	WaitsForOwnExpiry                    // the sale
	WaitsForForeignExpiry                // the sale
	UnattributedOverwrite                // the acting sale, the lock's owner, the key's values before and after
	symptomCount
)
