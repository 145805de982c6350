package load

import (
	"context"
	"net/http"
	"time"
)

// Pauses before a retry. The first one is doubled for each further retry, up to maxPause.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// buyWithRetry sends the i-th request. A request with an Idempotency-Key and an unknown outcome is sent again to the next target, until the
// answer is a receipt or says that the stock is sold out. The last retry begins at most Timeout after the first answer. Other refusals of a
// retry are ignored: they do not tell whether an earlier request made the sale.
func (b Burst) buyWithRetry(ctx context.Context, client *http.Client, i int) attempt {
	if b.NewKey == nil {
		return buyOne(ctx, client, b.Targets[i%len(b.Targets)], "")
	}
	key, began := b.NewKey(), time.Now()
	last := buyOne(ctx, client, b.Targets[i%len(b.Targets)], key)
	deadline, pause := time.Now().Add(b.Timeout), firstPause
	for n := i + 1; last.isUnknown() && time.Now().Before(deadline); n++ {
		select {
		case <-ctx.Done():
			return last
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
		next := buyOne(ctx, client, b.Targets[n%len(b.Targets)], key)
		if next.isSold() || next.isSoldOut() || next.isUnknown() {
			last = next
		}
		last.retried, last.duration = true, time.Since(began)
	}
	return last
}
