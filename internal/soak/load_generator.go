package soak

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"lockstep/internal/api"
	"lockstep/internal/load"
)

// loadGenerator runs buyers in a closed loop. A buyer sends the next request at once after a sale, and otherwise after a pause. Every
// second buyer sends an Idempotency-Key, and repeats a request while its outcome is unknown.
type loadGenerator struct {
	URL     string        // base URL of the reverse proxy
	Buyers  int           // number of buyers
	Timeout time.Duration // time limit for one request
	Pause   time.Duration // pause of a buyer whose sale was not made
	NewKey  func() string // creates an Idempotency-Key for a sale; nil: no keys are sent

	sales          atomic.Int64 // number of sales so far
	cancelRequests sync.Map     // buyer (int) → context.CancelCauseFunc that cancels its pending request
}

// errLeft is the cause for which Leave cancels a request.
var errLeft = errors.New("the buyer left")

// Run runs the buyers until buying ends, and then waits for their last answers, unless ctx ends. buying must be derived from ctx. Run
// returns all requests, including those without an answer.
func (g *loadGenerator) Run(ctx, buying context.Context) []Sale {
	transport := &http.Transport{MaxIdleConnsPerHost: g.Buyers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: g.Timeout}
	salesByBuyer := make([][]Sale, g.Buyers)
	var buyers sync.WaitGroup
	for i := range salesByBuyer {
		buyers.Go(func() {
			for buying.Err() == nil {
				sale := g.buyOne(ctx, client, i)
				salesByBuyer[i] = append(salesByBuyer[i], sale)
				if !sale.isSold() {
					_ = sleep(buying, g.Pause) // the loop's condition checks buying
				}
			}
		})
	}
	buyers.Wait()
	return slices.Concat(salesByBuyer...)
}

// Sold returns the number of sales so far.
func (g *loadGenerator) Sold() int64 { return g.sales.Load() }

// Leave cancels about every third pending request, and returns the number of cancelled requests. Their buyers then send new ones.
func (g *loadGenerator) Leave() (cancelled int64) {
	g.cancelRequests.Range(func(buyer, cancel any) bool {
		if buyer.(int)%3 == 0 {
			cancel.(context.CancelCauseFunc)(errLeft)
			cancelled++
		}
		return true
	})
	return cancelled
}

// buyOne makes one sale. With a key, it repeats the request while the outcome is unknown, for at most Timeout, but not after a 500.
func (g *loadGenerator) buyOne(ctx context.Context, client *http.Client, buyer int) Sale {
	key := ""
	if g.NewKey != nil && buyer%2 == 0 {
		key = g.NewKey()
	}
	sale := g.request(ctx, client, buyer, key)
	lastRepeat := time.Now().Add(g.Timeout)
	for key != "" && sale.outcome() == outcomeUnknown && !sale.isBug() && time.Now().Before(lastRepeat) {
		if sleep(ctx, g.Pause) != nil {
			break
		}
		sale = sale.withRepeat(g.request(ctx, client, buyer, key))
	}
	if sale.isSold() {
		g.sales.Add(1)
	}
	return sale
}

// withRepeat returns a sale of unknown outcome with the answer to its next request. A refusal says nothing about the earlier requests, so
// it leaves the outcome unknown.
func (s Sale) withRepeat(next Sale) Sale {
	if next.outcome() == outcomeMade || next.outcome() == outcomeUnknown {
		next.Start, next.Repeats, next.OtherOrderID = s.Start, s.Repeats, cmp.Or(s.OtherOrderID, next.OtherOrderID)
		s = next
	}
	s.End = next.End
	s.Repeats++
	return s
}

// request sends one request to buy, and returns its answer. An empty key is not sent.
func (g *loadGenerator) request(ctx context.Context, client *http.Client, buyer int, key string) Sale {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g.cancelRequests.Store(buyer, cancel)
	defer g.cancelRequests.Delete(buyer)
	sale := Sale{Start: time.Now(), Buyer: buyer}
	answer, err := load.Buy(ctx, client, g.URL, key)
	switch {
	case err == nil:
		sale.Status, sale.Code, sale.OrderID = answer.Status, intern(answer.Error.Code), answer.Order()
		sale.Before, sale.After, sale.Fence = answer.Before, answer.After, answer.Fence
		sale.RunID, sale.Replica = intern(answer.RunID), intern(answer.Replica)
	case errors.Is(context.Cause(ctx), errLeft):
		sale.Code = errLeft.Error()
	default:
		sale.Code = load.FailureReason(err, "no answer in time")
	}
	sale.End = time.Now()
	if key == "" {
		return sale
	}
	sale.HasKey = true
	orderOfKey := api.OrderOfKey(key)
	if sale.OrderID != "" && sale.OrderID != orderOfKey {
		sale.OtherOrderID = sale.OrderID
	}
	sale.OrderID = cmp.Or(sale.OrderID, orderOfKey)
	return sale
}

// intern returns a shared copy of text, because millions of answers repeat the same few texts.
func intern(text string) string { return unique.Make(text).Value() }
