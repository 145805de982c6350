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
	dialTimeout   = time.Second     // for a connection to a replica
	answerTimeout = 5 * time.Minute // for a replica's answer: longer than any wait for a lock should be
)

// IdleTime is how long the front keeps a connection to a replica that carries no request: shorter than the replica does, or a request
// could meet its end.
const IdleTime = time.Second

// trip is a request on its way to a replica.
type trip struct {
	orderID string     // of a sale
	keyed   bool       // a sale with an Idempotency-Key, which a replica may have although another had it before
	tried   []*Replica // could not be dialled, or have not answered a sale with a key
	retried bool       // after files had run out
	replica *Replica   // has it, or is being dialled
	leave   func()
}

type tripKey struct{}

func tripOf(r *http.Request) *trip { return r.Context().Value(tripKey{}).(*trip) }

func (t *trip) name() string {
	if t.replica == nil {
		return "none"
	}
	return t.replica.Name
}

// over ends the trip: no replica has the request any more.
func (t *trip) over() {
	if t.replica != nil {
		t.leave()
		t.replica.held.Add(-1)
	}
	t.replica = nil
}

// roads are the transport to the replicas.
type roads struct {
	front     *Front
	transport *http.Transport
}

// RoundTrip sends a request to a replica. If the replica cannot be dialled, nothing was sent, and another replica gets the request. After
// any other error only a sale with a key is sent to another one.
func (r roads) RoundTrip(request *http.Request) (*http.Response, error) {
	trip := tripOf(request)
	var unanswered error // of the last replica that has not answered what it was sent
	for {
		replica, address, trust := r.front.choose(trip.tried)
		if replica == nil {
			return nil, cmp.Or(unanswered, errNoReplica)
		}
		ctx, cancel := context.WithCancelCause(request.Context())
		stop := context.AfterFunc(trust, func() { cancel(errReplicaHung) })
		trip.replica, trip.leave = replica, func() { stop(); cancel(nil) }

		out := request.Clone(ctx)
		out.URL.Scheme, out.URL.Host = "http", address
		if out.Body != nil && out.GetBody != nil {
			out.Body, _ = out.GetBody() // of bytes in memory: see api.Entrance
		}
		response, err := r.transport.RoundTrip(out)
		if err == nil {
			replica.markHeard()
			return response, nil
		}
		var failed *net.OpError
		switch {
		case !errors.As(err, &failed) || failed.Op != "dial" || ctx.Err() != nil:
			if unanswered = err; errors.Is(context.Cause(ctx), errReplicaHung) {
				unanswered = errReplicaHung
			}
			if !trip.keyed || request.Context().Err() != nil {
				return nil, unanswered
			}
			r.front.Log.Warn("sending a sale with an Idempotency-Key to another replica", "after", trip.name(), "error", unanswered)
		case outOfFiles(err) && !trip.retried:
			r.transport.CloseIdleConnections() // those to other replicas
			trip.over()
			trip.retried = true
			continue
		case outOfFiles(err):
			return nil, cmp.Or(unanswered, fmt.Errorf("%w: %w", errNoFiles, err))
		}
		trip.over()
		trip.tried = append(trip.tried, replica)
	}
}

// choose gives the replica for a request, its address, and a context that ends when it is given up; nil if all have been tried. A hung
// replica is chosen only if all hang: it may just be slow.
func (f *Front) choose(tried []*Replica) (chosen *Replica, address string, trust context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	chosenHangs := false
	for i := range f.Cluster.replicas {
		replica := f.Cluster.replicas[(f.next+i)%len(f.Cluster.replicas)]
		addr, hangs, trusted := replica.reach()
		if addr == "" || trusted.Err() != nil || slices.Contains(tried, replica) {
			continue
		}
		if chosen == nil || chosenHangs && !hangs || chosenHangs == hangs && replica.held.Load() < chosen.held.Load() {
			chosen, address, trust, chosenHangs = replica, addr, trusted, hangs
		}
	}
	if chosen != nil {
		chosen.held.Add(1)
	}
	return chosen, address, trust
}
