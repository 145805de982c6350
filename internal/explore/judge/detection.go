package judge

import "lockstep/internal/anomaly"

// Detection is an anomaly that a run has shown, with the symptom that showed it.
type Detection struct {
	Anomaly anomaly.Anomaly // anomaly that was detected
	Symptom Symptom         // how the anomaly showed
	Values  []any           // arguments of the symptom's sentence: names, numbers, durations, an error, or a list of names
}

// Symptom is one way in which an anomaly shows. Each has a sentence in texts.
type Symptom uint8

// The symptoms, each with the arguments of its sentence. Sales are arguments by their names.
const (
	TwoEntered            Symptom = iota // two sales are in the critical section; args: the list of both
	SeveralEntered                       // more than two sales are in the critical section; args: the list of them
	ForeignRemoval                       // a sale removes another's lock; args: the sale, the owner
	ForeignExpiry                        // a sale sets an expiry on another's lock that had none; args: the sale, the owner
	ForeignShortening                    // a sale shortens the expiry of another's lock; args: the sale, the owner
	ForeignRenewal                       // a sale extends the expiry of another's lock; args: the sale, the owner
	ForeignOverwrite                     // a sale overwrites another's lock; args: the sale, the owner
	UnlockHidesLoss                      // Unlock succeeds although the lock was lost; args: the sale
	UnlockLeavesLock                     // Unlock succeeds although it has only shortened the expiry of the lock; args: the sale
	UnlockDeniesHolding                  // Unlock fails although the sale held the lock; args: the sale, the error
	FalseLossNotice                      // a holder is told that it lost the lock; args: the sale
	FalseCancellation                    // Lock reports that the client has gone, and it has not; args: the sale
	FalseRefusal                         // TryLock reports that the lock is held, and it is not; args: the sale
	SaleFails                            // a sale fails without a fault; args: the sale, its error
	LockOutlivesHolder                   // a dead sale's lock remains too long; args: the sale, the remaining TTL
	LockStaysForever                     // a lock without a holder remains forever; no args
	GoroutineOutlivesSale                // a goroutine still runs after its sale has ended; args: the sale, the goroutine
	TimerOutlivesSale                    // a timer is pending, or its function runs, after its sale has ended; args: the sale
	SoldTwice                            // an order is sold again; args: the order, the stock before and after
	StaleWrite                           // a sale overwrites an update; args: the sale, the stock it writes, the one it read, the actual one
	WorksWithoutLock                     // a sale has lost the lock and is not told; args: the sale
	IgnoresOtherCause                    // a sale has lost the lock and is told another cause than ErrLost; args: the sale, the cause
	TokenNotLarger                       // a later holder's token is not larger; args: the earlier token, the later one
	NestedTokenDiffers                   // a nested lease has another token; args: the sale, its nested token, its outer token
	SaleOvertaken                        // later sales enter before a waiting one; args: the waiting sale, how many times
	SaleBlockedForever                   // a sale can never continue; args: the sale
	WaitsForItself                       // a sale waits forever for its own lock; args: the sale
	WaitsForOwnExpiry                    // a sale waits until its own lock expires; args: the sale
	WaitsForForeignExpiry                // a sale waits until a lock without a live holder expires; args: the sale
	UnattributedOverwrite                // a sale overwrites a lock, and no value names an owner; args: the sale, the owner, both values
	symptomCount                         // number of symptoms
)
