package load

import (
	"context"
	"net/http"
	"time"
)

// The pauses of a buyer before it asks again: the first, and the longest after it has doubled.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// buyWithRetry sends the i-th request. With keys, one that may have sold is sent again, to one target after the other, until it is known to be
// sold or sold out; for Timeout at most, and for the last answer. Any other refusal says nothing of the requests before it.
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
