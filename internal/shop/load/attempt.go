package load

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// attempt is what one request of a buyer led to.
type attempt struct {
	took   time.Duration
	status int    // 0 if there was no answer
	code   string // of the error, or the client's reason; "" if it was sold
	sent   bool   // the request may have reached the server
}

func buyOne(ctx context.Context, client *http.Client, target string) attempt {
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }, // before that, nothing can have been sent
	})
	began := time.Now()
	answer, body, err := do(traced, client, http.MethodPost, target+"/inventory/sale", "", nil)
	a := attempt{took: time.Since(began), status: answer.Status, sent: sent.Load()}
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
func (a attempt) unknown() bool { return a.status == 0 && a.sent || MayHaveSold(a.status, a.code) }
