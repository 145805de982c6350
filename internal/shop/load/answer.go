package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// answer is what one request of a buyer led to.
type answer struct {
	took   time.Duration
	status int    // 0 if there was no answer
	code   string // of the error, or the client's reason; "" if it was sold
	sent   bool   // the request may have reached the server
}

func buyOne(ctx context.Context, client *http.Client, target string) answer {
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }, // before that, nothing can have been sent
	})
	began := time.Now()
	status, body, err := do(traced, client, http.MethodPost, target+"/inventory/sale", "", nil)
	a := answer{took: time.Since(began), status: status, sent: sent.Load()}
	switch {
	case status == http.StatusOK:
	case err != nil:
		a.status, a.code = 0, reason(err, client.Timeout)
	default:
		a.code = errorOf(body).Code
	}
	return a
}

// unknown reports whether the sale may have been made: the server does not know, or did not answer.
func (a answer) unknown() bool {
	switch a.status {
	case 0:
		return a.sent
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout: // a bug after the write; a front, or another proxy
		return true
	default:
		return a.code == "outcome_unknown"
	}
}

// reason says briefly why there was no answer, always in the same words for the same reason.
func reason(err error, timeout time.Duration) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer within %v", timeout)
	}
	for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		err = unwrapped
	}
	return "no answer: " + err.Error()
}
