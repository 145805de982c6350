package shoptest

import (
	"encoding/json"
	"io"
	"net/http"

	"lockstep/internal/api"
	"lockstep/internal/service/history"
)

// Bought is the answer to a sale with a key.
type Bought struct {
	api.SaleAnswer
	api.ErrorAnswer

	Status     int    // HTTP status; 0: there was no answer
	RetryAfter string // value of the header Retry-After
	Replayed   bool   // the answer repeats an earlier answer
}

// IsReceipt reports whether the answer is a receipt of the order, either the first or a replayed one.
func (b Bought) IsReceipt(o history.Order) bool {
	timed := !b.Replayed || b.WaitMS == 0 && b.HoldMS == 0
	return b.Status == 200 && b.OrderID == o.ID && b.RunID == o.RunID && b.Lock == o.Lock && b.Replica == o.Replica &&
		b.StockBefore == o.Before && b.StockAfter == o.After && b.Fence == o.Fence && timed
}

// BuyWithKey requests a sale with an idempotency key. A missing answer does not fail the test.
func (c Client) BuyWithKey(key string) (b Bought) {
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.URL()+api.SalePath, http.NoBody)
	if err != nil {
		c.t.Error(err)
		return b
	}
	request.Header["idempotency-key"] = []string{key} // In lower case, so that net/http does not repeat the request by itself.
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return b
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err == nil {
		if err := json.Unmarshal(text, &b); err != nil {
			c.t.Errorf("%s: %v", text, err)
		}
		b.Status, b.RetryAfter = response.StatusCode, response.Header.Get("Retry-After")
		b.Replayed = response.Header.Get(api.ReplayedHeader) == "true"
	}
	return b
}

// Order returns the order that was made with an idempotency key.
func (c Client) Order(key string) (order history.Order) {
	c.t.Helper()
	if status := c.Ask(http.MethodGet, "/orders/"+api.OrderOfKey(key), "", &order); status != 200 {
		c.t.Errorf("GET /orders of the key %s: %d", key, status)
	}
	return order
}
