package worker

import (
	"context"
	"time"

	"lockstep/bench/internal/contestants"
)

// buyer buys again and again, and remembers when. No other goroutine reads it before it has ended.
type buyer struct {
	purchases []purchase
	errs      []error
}

// purchase is one sale to a buyer.
type purchase struct {
	requested time.Time
	obtained  time.Time // zero if it never got in
	ended     time.Time // however it ended
	sold      bool
}

// run buys until ctx ends. After a sale the buyer rests; after a failure it pauses as long as a buyer that polls.
func (b *buyer) run(ctx context.Context, seller contestants.Seller, job Job) {
	for ctx.Err() == nil {
		t := purchase{requested: time.Now()}
		sold, err := seller.Sell(ctx, func() { t.obtained = time.Now() })
		t.ended, t.sold = time.Now(), sold
		b.purchases = append(b.purchases, t)
		if err != nil && (ctx.Err() == nil || sold || !t.obtained.IsZero()) { // else it only stopped waiting because ctx ended
			b.errs = append(b.errs, err)
			waitUntil(ctx, time.Now().Add(job.Retry))
		}
		if job.Rest > 0 {
			waitUntil(ctx, time.Now().Add(job.Rest))
		}
	}
}
