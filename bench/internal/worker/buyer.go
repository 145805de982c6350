package worker

import (
	"context"
	"time"

	"lockstep/bench/internal/contestants"
)

// buyer buys again and again, and remembers when. No other goroutine reads it before it has ended.
type buyer struct {
	turns []turn
	errs  []error
}

// turn is one sale to a buyer.
type turn struct {
	asked   time.Time
	entered time.Time // zero if it never got in
	ended   time.Time // however it ended
	sold    bool
}

// work buys until ctx ends. After a sale the buyer rests; after a failure it pauses as long as a buyer that polls.
func (b *buyer) work(ctx context.Context, seller contestants.Seller, job Job) {
	for ctx.Err() == nil {
		t := turn{asked: time.Now()}
		sold, err := seller.Sell(ctx, func() { t.entered = time.Now() })
		t.ended, t.sold = time.Now(), sold
		b.turns = append(b.turns, t)
		if err != nil && (ctx.Err() == nil || sold || !t.entered.IsZero()) { // else it only stopped waiting because ctx ended
			b.errs = append(b.errs, err)
			until(ctx, time.Now().Add(job.Retry))
		}
		if job.Rest > 0 {
			until(ctx, time.Now().Add(job.Rest))
		}
	}
}
