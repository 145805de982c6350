package crew

import (
	"context"
	"time"

	"lockstep/bench/internal/contest"
)

// worker sells again and again, and remembers when. Nobody else looks at it before it has ended.
type worker struct {
	turns []turn
	errs  []error
}

// turn is one sale of a worker.
type turn struct {
	asked   time.Time
	entered time.Time // zero if it never got in
	ended   time.Time // however it ended
	sold    bool
}

// work sells until ctx ends. After a sale it rests, and after a failure it pauses as long as one who polls.
func (w *worker) work(ctx context.Context, seller contest.Seller, job Job) {
	for ctx.Err() == nil {
		t := turn{asked: time.Now()}
		sold, err := seller.Sell(ctx, func() { t.entered = time.Now() })
		t.ended, t.sold = time.Now(), sold
		w.turns = append(w.turns, t)
		if err != nil && (ctx.Err() == nil || sold || !t.entered.IsZero()) { // else it only stopped waiting, as it was told to
			w.errs = append(w.errs, err)
			until(ctx, time.Now().Add(job.Retry))
		}
		if job.Rest > 0 {
			until(ctx, time.Now().Add(job.Rest))
		}
	}
}
