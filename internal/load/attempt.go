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

// attempt is the outcome of a request to buy.
type attempt struct {
	duration time.Duration // time until the answer; 0: nothing was sent
	status   int           // HTTP status; 0: no answer
	code     string        // error code, or the reason why there is no usable answer; empty: sold
	sent     bool          // the request may have reached the server
	retried  bool          // the request was sent again with its Idempotency-Key
	replayed bool          // the server repeated its answer to an earlier request with the same key
	orderID  string        // id of the order; empty: not sold
}

// buyOne sends one request to buy. An empty key is not sent.
func buyOne(ctx context.Context, client *http.Client, target, key string) attempt {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }, // nothing is sent without a connection
	})
	began := time.Now()
	answer, body, err := send(ctx, client, http.MethodPost, target+salePath, keyHeader(key), nil)
	a := attempt{duration: time.Since(began), status: answer.Status, sent: sent.Load(), replayed: answer.Replayed}
	switch {
	case err != nil:
		a.status, a.code = 0, FailureReason(err, fmt.Sprintf("no answer within %v", client.Timeout))
	case a.status != http.StatusOK:
		a.code = parseProblem(a.status, answer.location, body).Code
	default:
		var ok bool
		if a.orderID, ok = parseOrderID(body); !ok {
			a.code = "200, but not a sale"
		}
	}
	return a
}

// parseOrderID returns the id of the order in a receipt. ok is false if the body is not a receipt.
func parseOrderID(body []byte) (id string, ok bool) {
	var sale struct {
		Order  *string `json:"order_id"`
		Run    *string `json:"run_id"`
		Before *int64  `json:"stock_before"`
		After  *int64  `json:"stock_after"`
	}
	if decodeObject(body, &sale) != nil || !isName(sale.Order) || !isName(sale.Run) || sale.Before == nil || sale.After == nil {
		return "", false
	}
	return *sale.Order, true
}

// isName reports whether text is not nil and well-formed as an id or as the name of a lock.
func isName(text *string) bool { return text != nil && namePattern.MatchString(*text) }

// namePattern matches ids and names of locks.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9][\w.:-]{0,99}$`)

// isSold reports whether the answer is a receipt.
func (a attempt) isSold() bool { return a.status == http.StatusOK && a.code == "" }

// isSoldOut reports whether the answer is that the stock is sold out.
func (a attempt) isSoldOut() bool {
	return a.status == http.StatusConflict && a.code == lock.CodeOf(service.ErrSoldOut)
}

// isUnknown reports whether the sale may have been made although no receipt came: the server reported an unknown outcome, did not answer,
// or gave an answer that cannot be understood.
func (a attempt) isUnknown() bool {
	return a.status == 0 && a.sent || a.status != 0 && !a.isSold() && MayHaveSold(a.status, a.code)
}
