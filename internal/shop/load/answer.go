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
	got, body, err := do(traced, client, http.MethodPost, target+"/inventory/sale", "", nil)
	a := answer{took: time.Since(began), status: got.Status, sent: sent.Load()}
	switch {
	case a.status == http.StatusOK:
	case err != nil:
		a.status, a.code = 0, Why(err, fmt.Sprintf("no answer within %v", client.Timeout))
	default:
		a.code = problemOf(body).Code
	}
	return a
}

// unknown reports whether the sale may have been made: the server does not know, or did not answer.
func (a answer) unknown() bool { return a.status == 0 && a.sent || MayHaveSold(a.status, a.code) }

// MayHaveSold reports whether a sale may have been made that was answered by a status, 200 aside, and an error's code.
func MayHaveSold(status int, code string) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout: // a bug after the write; a front, or another proxy
		return true
	default:
		return code == "outcome_unknown"
	}
}

// Why says briefly why there was no answer, always in the same words for the same reason; late are those for one that did not come in time.
func Why(err error, late string) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return late
	}
	for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		err = unwrapped
	}
	return "no answer: " + err.Error()
}
