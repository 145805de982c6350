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

// loadGenerator is buyers in a closed loop: each sends its next request at once after a sale, and after a pause otherwise.
type loadGenerator struct {
	URL     string // of the shop
	Buyers  int
	Timeout time.Duration // of one request
	Pause   time.Duration // after a refusal
	NewKey  func() string // makes an Idempotency-Key for each sale of every second buyer, who repeats what it doubts; nil: no keys

	sales          atomic.Int64
	cancelRequests sync.Map // buyer: context.CancelCauseFunc, which ends the request that waits for its answer
}

var errLeft = errors.New("the buyer left")

// Run runs the buyers until open ends, and then until the last of them is answered; or until ctx ends, which open is derived from. It gives
// every sale they asked for, including those that are unanswered by then.
func (g *loadGenerator) Run(ctx, open context.Context) []Sale {
	transport := &http.Transport{MaxIdleConnsPerHost: g.Buyers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: g.Timeout}
	asked := make([][]Sale, g.Buyers)
	var buyers sync.WaitGroup
	for i := range asked {
		buyers.Go(func() {
			for open.Err() == nil {
				sale := g.buyOne(ctx, client, i)
				asked[i] = append(asked[i], sale)
				if !sale.sold() {
					_ = sleep(open, g.Pause) // the loop looks at open itself
				}
			}
		})
	}
	buyers.Wait()
	return slices.Concat(asked...)
}

// Sold counts the sales so far.
func (g *loadGenerator) Sold() int64 { return g.sales.Load() }

// Leave makes every third of the buyers who wait for an answer go away, and gives their number. They come back.
func (g *loadGenerator) Leave() (gone int64) {
	g.cancelRequests.Range(func(buyer, leave any) bool {
		if buyer.(int)%3 == 0 {
			leave.(context.CancelCauseFunc)(errLeft)
			gone++
		}
		return true
	})
	return gone
}

// buyOne asks for a sale. A buyer with a key repeats it while it is in doubt, for as long as one request may take, and until there is a bug.
func (g *loadGenerator) buyOne(ctx context.Context, client *http.Client, buyer int) Sale {
	key := ""
	if g.NewKey != nil && buyer%2 == 0 {
		key = g.NewKey()
	}
	sale := g.request(ctx, client, buyer, key)
	for until := time.Now().Add(g.Timeout); key != "" && sale.outcome() == outcomeUnknown && !sale.isBug() && time.Now().Before(until); {
		if sleep(ctx, g.Pause) != nil {
			break
		}
		sale = sale.withRepeat(g.request(ctx, client, buyer, key))
	}
	if sale.sold() {
		g.sales.Add(1)
	}
	return sale
}

// withRepeat returns a sale in doubt with its next answer. One that was refused says nothing of the requests before it.
func (s Sale) withRepeat(next Sale) Sale {
	if next.outcome() == outcomeMade || next.outcome() == outcomeUnknown {
		next.Start, next.Repeats, next.OtherOrderID = s.Start, s.Repeats, cmp.Or(s.OtherOrderID, next.OtherOrderID)
		s = next
	}
	s.End = next.End
	s.Repeats++
	return s
}

func (g *loadGenerator) request(ctx context.Context, client *http.Client, buyer int, key string) Sale {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	g.cancelRequests.Store(buyer, leave)
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
		sale.Code = load.Why(err, "no answer in time")
	}
	if sale.End = time.Now(); key == "" {
		return sale
	}
	sale.HasKey = true
	switch its := api.OrderOfKey(key); sale.OrderID {
	case its:
	case "":
		sale.OrderID = its
	default:
		sale.OtherOrderID = sale.OrderID
	}
	return sale
}

// intern keeps one copy of a text that is in a million answers.
func intern(text string) string { return unique.Make(text).Value() }
