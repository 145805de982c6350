package load

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"sync/atomic"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// attempt is what one request of a buyer led to.
type attempt struct {
	took     time.Duration // 0: nothing was sent
	status   int           // 0 if there was no answer
	code     string        // of the error, or the client's reason; "" if it was sold
	sent     bool          // the request may have reached the server
	retried  bool          // it was sent again with its key
	replayed bool          // its key had bought before
	order    string        // the id of what was sold
}

// buyOne sends a request, with a key unless that is empty.
func buyOne(ctx context.Context, client *http.Client, target, key string) attempt {
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }, // before that, nothing can have been sent
	})
	began := time.Now()
	answer, body, err := do(traced, client, http.MethodPost, target+salePath, keyHeader(key), nil)
	a := attempt{took: time.Since(began), status: answer.Status, sent: sent.Load(), replayed: answer.Replay}
	switch {
	case err != nil:
		a.status, a.code = 0, Why(err, fmt.Sprintf("no answer within %v", client.Timeout))
	case a.status != http.StatusOK:
		a.code = problemOf(a.status, answer.location, body).Code
	default:
		var ok bool
		if a.order, ok = orderOf(body); !ok {
			a.code = "200, but not a sale"
		}
	}
	return a
}

// orderOf returns the id of the order in a body that says what was sold.
func orderOf(body []byte) (id string, ok bool) {
	var sale struct {
		Order  *string `json:"order_id"`
		Run    *string `json:"run_id"`
		Before *int64  `json:"stock_before"`
		After  *int64  `json:"stock_after"`
	}
	if readObject(body, &sale) != nil || !isName(sale.Order) || !isName(sale.Run) || sale.Before == nil || sale.After == nil {
		return "", false
	}
	return *sale.Order, true
}

// isName reports whether a text is there, and may be an id or a lock's name.
func isName(text *string) bool { return text != nil && name.MatchString(*text) }

var name = regexp.MustCompile(`^[A-Za-z0-9][\w.:-]{0,99}$`)

func (a attempt) sold() bool { return a.status == http.StatusOK && a.code == "" }

func (a attempt) soldOut() bool {
	return a.status == http.StatusConflict && a.code == lock.CodeOf(service.ErrSoldOut)
}

// unknown reports whether the sale may have been made: the server does not know, did not answer, or said something else.
func (a attempt) unknown() bool {
	return a.status == 0 && a.sent || a.status != 0 && !a.sold() && MayHaveSold(a.status, a.code)
}
