package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Answer is what a shop answers, as far as somebody heeds it.
type Answer struct {
	Status  int    `json:"-"`
	Replica string `json:"-"`        // that answered; "" if it was the front
	OrderID string `json:"order_id"` // of a sale
	RunID   string `json:"run_id"`
	Before  int64  `json:"stock_before"`
	After   int64  `json:"stock_after"`
	Fence   int64  `json:"fence"`
	Error   struct {
		Code    string `json:"code"`
		OrderID string `json:"order_id"`
	} `json:"error"`
}

// Order gives the id of the order that it is about; "" if it does not say.
func (a Answer) Order() string { return a.OrderID + a.Error.OrderID } // one of the two

// Ask sends a request. It fails if there is no answer, or none in JSON.
func Ask(ctx context.Context, client *http.Client, method, url, body string) (answer Answer, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return Answer{}, err
	}
	answer.Status, answer.Replica = response.StatusCode, response.Header.Get("X-Lockstep-Replica")
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("%d, and not JSON: %.100s", response.StatusCode, text)
	}
	return answer, nil
}
