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
	duration time.Duration // 0: nothing was sent
	status   int           // 0 if there was no answer
	code     string        // of the error, or the client's reason; "" if it was sold
	sent     bool          // the request may have reached the server
	retried  bool          // it was sent again with its key
	replayed bool          // its key had bought before
	orderID  string        // the id of what was sold
}

// buyOne sends a request, with a key unless that is empty.
func buyOne(ctx context.Context, client *http.Client, target, key string) attempt {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }, // before that, nothing can have been sent
	})
	began := time.Now()
	answer, body, err := send(ctx, client, http.MethodPost, target+salePath, keyHeader(key), nil)
	a := attempt{duration: time.Since(began), status: answer.Status, sent: sent.Load(), replayed: answer.Replay}
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

// parseOrderID returns the id of the order in a body that says what was sold.
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

// isName reports whether a text is there, and may be an id or a lock's name.
func isName(text *string) bool { return text != nil && namePattern.MatchString(*text) }

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][\w.:-]{0,99}$`)

func (a attempt) isSold() bool { return a.status == http.StatusOK && a.code == "" }

func (a attempt) isSoldOut() bool {
	return a.status == http.StatusConflict && a.code == lock.CodeOf(service.ErrSoldOut)
}

// isUnknown reports whether the sale may have been made: the server does not know, did not answer, or said something else.
func (a attempt) isUnknown() bool {
	return a.status == 0 && a.sent || a.status != 0 && !a.isSold() && MayHaveSold(a.status, a.code)
}
