package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
	"unique"
)

// Crowd is buyers in a closed loop: each sends its next request at once after a sale, and after a pause otherwise.
type Crowd struct {
	URL     string // of the shop
	Buyers  int
	Timeout time.Duration // of one request
	Pause   time.Duration // after a refusal
}

// Buy runs the buyers until ctx ends. It gives every sale they asked for, including those that are unanswered by then.
func (c Crowd) Buy(ctx context.Context) []Sale {
	transport := &http.Transport{MaxIdleConnsPerHost: c.Buyers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: c.Timeout}
	asked := make([][]Sale, c.Buyers)
	var buyers sync.WaitGroup
	for i := range asked {
		buyers.Go(func() {
			for ctx.Err() == nil {
				sale := c.ask(context.WithoutCancel(ctx), client)
				asked[i] = append(asked[i], sale)
				if !sale.sold() {
					_ = wait(ctx, c.Pause) // the loop looks at ctx itself
				}
			}
		})
	}
	buyers.Wait()
	return slices.Concat(asked...)
}

func (c Crowd) ask(ctx context.Context, client *http.Client) Sale {
	sale := Sale{Start: time.Now()}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/inventory/sale", http.NoBody)
	if err == nil {
		err = sale.send(client, request)
	}
	if err != nil {
		sale.Status, sale.Code = 0, why(err)
	}
	sale.End = time.Now()
	return sale
}

// send sends the request, and records the answer.
func (s *Sale) send(client *http.Client, request *http.Request) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	var answer struct {
		OrderID string `json:"order_id"`
		RunID   string `json:"run_id"`
		Error   struct {
			Code    string `json:"code"`
			OrderID string `json:"order_id"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("%d, and not JSON: %.100s", response.StatusCode, text)
	}
	s.Status, s.Code, s.OrderID = response.StatusCode, same(answer.Error.Code), answer.OrderID
	s.RunID, s.Replica = same(answer.RunID), same(response.Header.Get("X-Lockstep-Replica"))
	if s.OrderID == "" {
		s.OrderID = answer.Error.OrderID
	}
	return nil
}

// why says briefly why there was no answer, always in the same words for the same reason.
func why(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		err = unwrapped
	}
	return "no answer: " + err.Error()
}

// same keeps one copy of a text that is in a million answers.
func same(text string) string { return unique.Make(text).Value() }
