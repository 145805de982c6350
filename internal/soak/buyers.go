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

// crowd is buyers in a closed loop: each sends its next request at once after a sale, and after a pause otherwise.
type crowd struct {
	URL     string // of the shop
	Buyers  int
	Timeout time.Duration // of one request
	Pause   time.Duration // after a refusal
	NewKey  func() string // makes an Idempotency-Key for each sale of every second buyer, who repeats what it doubts; nil: no keys

	sold    atomic.Int64
	waiting sync.Map // buyer: context.CancelCauseFunc, which ends the request that waits for its answer
}

var errLeft = errors.New("the buyer left")

// Buy runs the buyers until open ends, and then until the last of them is answered; or until ctx ends, which open is derived from. It gives
// every sale they asked for, including those that are unanswered by then.
func (c *crowd) Buy(ctx, open context.Context) []Sale {
	transport := &http.Transport{MaxIdleConnsPerHost: c.Buyers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: c.Timeout}
	asked := make([][]Sale, c.Buyers)
	var buyers sync.WaitGroup
	for i := range asked {
		buyers.Go(func() {
			for open.Err() == nil {
				sale := c.buy(ctx, client, i)
				asked[i] = append(asked[i], sale)
				if !sale.sold() {
					_ = wait(open, c.Pause) // the loop looks at open itself
				}
			}
		})
	}
	buyers.Wait()
	return slices.Concat(asked...)
}

// Sold counts the sales so far.
func (c *crowd) Sold() int64 { return c.sold.Load() }

// Leave makes every third of the buyers who wait for an answer go away, and gives their number. They come back.
func (c *crowd) Leave() (gone int64) {
	c.waiting.Range(func(buyer, leave any) bool {
		if buyer.(int)%3 == 0 {
			leave.(context.CancelCauseFunc)(errLeft)
			gone++
		}
		return true
	})
	return gone
}

// buy asks for a sale. A buyer with a key repeats it while it is in doubt, for as long as one request may take, and until there is a bug.
func (c *crowd) buy(ctx context.Context, client *http.Client, buyer int) Sale {
	key := ""
	if c.NewKey != nil && buyer%2 == 0 {
		key = c.NewKey()
	}
	sale := c.request(ctx, client, buyer, key)
	for until := time.Now().Add(c.Timeout); key != "" && sale.outcome() == unknown && !sale.isBug() && time.Now().Before(until); {
		if wait(ctx, c.Pause) != nil {
			break
		}
		sale = sale.repeated(c.request(ctx, client, buyer, key))
	}
	if sale.sold() {
		c.sold.Add(1)
	}
	return sale
}

// repeated returns a sale in doubt with its next answer. One that was refused says nothing of the requests before it.
func (s Sale) repeated(next Sale) Sale {
	if next.outcome() == made || next.outcome() == unknown {
		next.Start, next.Repeats, next.Strayed = s.Start, s.Repeats, cmp.Or(s.Strayed, next.Strayed)
		s = next
	}
	s.End = next.End
	s.Repeats++
	return s
}

func (c *crowd) request(ctx context.Context, client *http.Client, buyer int, key string) Sale {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	c.waiting.Store(buyer, leave)
	defer c.waiting.Delete(buyer)
	sale := Sale{Start: time.Now(), Buyer: buyer}
	answer, err := load.Buy(ctx, client, c.URL, key)
	switch {
	case err == nil:
		sale.Status, sale.Code, sale.OrderID = answer.Status, same(answer.Error.Code), answer.Order()
		sale.Before, sale.After, sale.Fence = answer.Before, answer.After, answer.Fence
		sale.RunID, sale.Replica = same(answer.RunID), same(answer.Replica)
	case errors.Is(context.Cause(ctx), errLeft):
		sale.Code = errLeft.Error()
	default:
		sale.Code = load.Why(err, "no answer in time")
	}
	if sale.End = time.Now(); key == "" {
		return sale
	}
	sale.Keyed = true
	switch its := api.OrderOfKey(key); sale.OrderID {
	case its:
	case "":
		sale.OrderID = its
	default:
		sale.Strayed = sale.OrderID
	}
	return sale
}

// same keeps one copy of a text that is in a million answers.
func same(text string) string { return unique.Make(text).Value() }
