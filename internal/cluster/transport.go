package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

const (
	dialTimeout   = time.Second     // limit for opening a connection to a replica
	answerTimeout = 5 * time.Minute // limit for a replica's answer: longer than any wait for a lock should be
)

// IdleTime is how long the front keeps an idle connection to a replica. The replica keeps it longer; otherwise a request could arrive on a
// connection that is being closed.
const IdleTime = time.Second

// forwardedRequest is the state of a request that is forwarded to replicas.
type forwardedRequest struct {
	orderID string     // order id of a sale; empty: not a sale
	hasKey  bool       // whether it is a sale with an Idempotency-Key, which may be sent to several replicas
	tried   []*Replica // replicas that could not be dialled, or did not answer a sale with a key
	retried bool       // whether it was retried after this process had run out of files
	replica *Replica   // replica that has the request, or is being dialled; nil: none
	untrack func()     // stops watching whether the replica is given up, and cancels the request
}

// forwardedRequestKey is the context key of a forwardedRequest.
type forwardedRequestKey struct{}

// forwardedRequestOf returns the state that passOn has stored in the context of r.
func forwardedRequestOf(r *http.Request) *forwardedRequest {
	return r.Context().Value(forwardedRequestKey{}).(*forwardedRequest)
}

// replicaName returns the name of the replica that has the request, for the log.
func (f *forwardedRequest) replicaName() string {
	if f.replica == nil {
		return "none"
	}
	return f.replica.Name
}

// release takes the request from its replica, which then has one request less in flight.
func (f *forwardedRequest) release() {
	if f.replica != nil {
		f.untrack()
		f.replica.pendingRequests.Add(-1)
	}
	f.replica = nil
}

// retryTransport is an http.RoundTripper that chooses a replica for each request, and another one where a retry is safe.
type retryTransport struct {
	front     *Front
	transport *http.Transport
}

// RoundTrip sends a request to a replica. If the replica cannot be dialled, nothing was sent, and the request goes to another replica.
// After any other error, only a sale with an Idempotency-Key is sent to another one.
func (t retryTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	forwarded := forwardedRequestOf(request)
	var unanswered error // error of the last replica that may have received the request
	for {
		replica, address, alive := t.front.choose(forwarded.tried)
		if replica == nil {
			return nil, cmp.Or(unanswered, errNoReplica)
		}
		ctx, cancel := context.WithCancelCause(request.Context())
		stop := context.AfterFunc(alive, func() { cancel(errReplicaHung) })
		forwarded.replica, forwarded.untrack = replica, func() { stop(); cancel(nil) }

		out := request.Clone(ctx)
		out.URL.Scheme, out.URL.Host = "http", address
		if out.Body != nil && out.GetBody != nil {
			out.Body, _ = out.GetBody() // This cannot fail: package api has read the body into memory.
		}
		response, err := t.transport.RoundTrip(out)
		if err == nil {
			replica.markAnswered()
			return response, nil
		}
		var opErr *net.OpError
		switch {
		case !errors.As(err, &opErr) || opErr.Op != "dial" || ctx.Err() != nil:
			if unanswered = err; errors.Is(context.Cause(ctx), errReplicaHung) {
				unanswered = errReplicaHung
			}
			if !forwarded.hasKey || request.Context().Err() != nil {
				return nil, unanswered
			}
			t.front.Log.Warn("sending a sale with an Idempotency-Key to another replica", "after", forwarded.replicaName(), "error", unanswered)
		case isOutOfFiles(err) && !forwarded.retried:
			t.transport.CloseIdleConnections() // Idle connections to other replicas use up files.
			forwarded.release()
			forwarded.retried = true
			continue
		case isOutOfFiles(err):
			return nil, cmp.Or(unanswered, fmt.Errorf("%w: %w", errNoFiles, err))
		}
		forwarded.release()
		forwarded.tried = append(forwarded.tried, replica)
	}
}

// choose returns the replica for a request, its address, and a context that ends when it is given up; nil if all have been tried. It
// chooses a hung replica, which may only be slow, only if all hang.
func (f *Front) choose(tried []*Replica) (chosen *Replica, address string, alive context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	chosenHangs := false
	for i := range f.Cluster.replicas {
		replica := f.Cluster.replicas[(f.next+i)%len(f.Cluster.replicas)]
		addr, hangs, replicaAlive := replica.endpoint()
		if addr == "" || replicaAlive.Err() != nil || slices.Contains(tried, replica) {
			continue
		}
		if chosen == nil || chosenHangs && !hangs || chosenHangs == hangs && replica.pendingRequests.Load() < chosen.pendingRequests.Load() {
			chosen, address, alive, chosenHangs = replica, addr, replicaAlive, hangs
		}
	}
	if chosen != nil {
		chosen.pendingRequests.Add(1)
	}
	return chosen, address, alive
}
