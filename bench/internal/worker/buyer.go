package worker

import (
	"context"
	"time"

	"lockstep/bench/internal/contestants"
)

// buyer buys again and again, and records its purchases. No other goroutine reads it before it has ended.
type buyer struct {
	purchases []purchase
	errs      []error
}

// purchase is an attempt of a buyer to buy one piece.
type purchase struct {
	requested time.Time
	obtained  time.Time // time when it got the lock; zero: never
	ended     time.Time // time of its success or failure
	sold      bool
}

// run buys until ctx ends. After a sale the buyer pauses for job.Rest, after a failure for job.Retry.
func (b *buyer) run(ctx context.Context, seller contestants.Seller, job Job) {
	for ctx.Err() == nil {
		t := purchase{requested: time.Now()}
		sold, err := seller.Sell(ctx, func() { t.obtained = time.Now() })
		t.ended, t.sold = time.Now(), sold
		b.purchases = append(b.purchases, t)
		if err != nil && (ctx.Err() == nil || sold || !t.obtained.IsZero()) { // not if the buyer only stopped waiting because ctx ended
			b.errs = append(b.errs, err)
			waitUntil(ctx, time.Now().Add(job.Retry))
		}
		if job.Rest > 0 {
			waitUntil(ctx, time.Now().Add(job.Rest))
		}
	}
}
