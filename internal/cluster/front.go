package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/api/answer"
	"lockstep/internal/api/route"
	"lockstep/internal/lock"
)

const askTimeout = 2 * time.Second // limit for requests that ask replicas for their state

var (
	errNoReplica = lock.WithCode("no_replica",
		"no replica accepts requests: all are being restarted or hang; this request was not sent to any replica")
	errNoFiles = lock.WithCode("busy",
		"the reverse proxy cannot open more connections (ulimit -n); this request was not sent to any replica")
	errReplicaGone = lock.WithCode("bad_gateway", "the replica did not answer; the request is not sent again because it may have sold")
	errReplicaHung = lock.WithCode("bad_gateway",
		"the replica hangs; the request is not sent again because it may have sold, or may sell when the replica continues")
	errAllGone = lock.WithCode("bad_gateway",
		"no replica answered; one may have sold, or may sell when it continues: retry with the same Idempotency-Key")
)

// Front is the cluster's reverse proxy. It sends each request to the replica with the fewest requests in flight; equal replicas take turns.
// A sale or a change that may have reached a replica is never sent again, except a sale with an Idempotency-Key: it goes to one replica
// after the other until one answers.
type Front struct {
	Cluster  *Cluster
	NewID    func() string // makes the order id of a sale without an Idempotency-Key
	Patience Patience      // time limits for replicas that do not answer
	Ending   chan struct{} // closed to end the event streams; nil: they end with their clients
	Log      *slog.Logger

	Transport *http.Transport // connections to the replicas: see NewTransport

	mu   sync.Mutex // guards next and the choice of a replica
	next int        // index of the replica whose turn it is

	relay relay
}

// ReplicaAnswer describes a replica in the answer to GET /replicas.
type ReplicaAnswer struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`
	Address  string `json:"address"`
	State    State  `json:"state"`
	Restarts int    `json:"restarts"`
	Lock     string `json:"lock"` // name of its lock; empty: it did not answer
	InFlight int64  `json:"in_flight"`
}

// NewTransport returns a transport for Front.Transport.
func NewTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConnsPerHost: 1000, ResponseHeaderTimeout: answerTimeout, IdleConnTimeout: IdleTime,
	}
}

// PassOn returns the routes of a server as those of a front: requests that the front does not answer itself are passed on to a replica.
func (f *Front) PassOn(rows []route.Row) []route.Row {
	proxy := f.proxy()
	for i, row := range rows {
		if row.Responder != route.Front || row.Handle == nil {
			isSale := row.Pattern == api.SalePath
			rows[i].Handle = func(w http.ResponseWriter, r *http.Request) error { return f.passOn(w, r, proxy, isSale) }
		}
	}
	return rows
}

// passOn passes a request on to a replica. A sale gets its order id here, so that it stays one order whichever replicas it is sent to.
func (f *Front) passOn(w http.ResponseWriter, r *http.Request, proxy http.Handler, isSale bool) error {
	forwarded := &forwardedRequest{}
	defer forwarded.release()
	if isSale {
		key, err := api.IdempotencyKey(r.Header)
		if err != nil {
			return err
		}
		if forwarded.hasKey = key != ""; forwarded.hasKey {
			forwarded.orderID = api.OrderOfKey(key)
		} else {
			forwarded.orderID = f.NewID()
		}
	}
	proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), forwardedRequestKey{}, forwarded)))
	return nil
}

// proxy returns the handler that sends requests to replicas.
func (f *Front) proxy() http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			forwarded := forwardedRequestOf(r.In)
			// net/http retries a request by itself after a broken connection if it has one of these headers in canonical form, so the key is
			// passed on in lower case.
			r.Out.Header.Del(api.IdempotencyKeyHeader)
			r.Out.Header.Del("X-Idempotency-Key")
			if forwarded.hasKey {
				r.Out.Header[strings.ToLower(api.IdempotencyKeyHeader)] = r.In.Header.Values(api.IdempotencyKeyHeader)
			}
			r.Out.Header.Del(api.OrderIDHeader) // Clients must not choose order ids.
			if forwarded.orderID != "" {
				r.Out.Header.Set(api.OrderIDHeader, forwarded.orderID)
			}
		},
		Transport: retryTransport{front: f, transport: f.Transport},
		ModifyResponse: func(response *http.Response) error {
			response.Header.Del("X-Content-Type-Options") // The front's own handler has set it already.
			return nil
		},
		ErrorHandler:  f.fail,
		ErrorLog:      slog.NewLogLogger(f.Log.Handler(), slog.LevelWarn),
		FlushInterval: -1,
	}
}

// CloseIdleConnections closes the idle connections to replicas. A replica that shuts down waits some time for a request on each of them.
func (f *Front) CloseIdleConnections() { f.Transport.CloseIdleConnections() }

// Routes returns the routes that only a front serves. Of a nil Front it returns the same routes as absent, for a server without a front.
func (f *Front) Routes() []route.Row {
	rows := []route.Row{
		route.On("GET", "/replicas", route.Reader, route.Front, f.list),
		route.On("POST", "/replicas/{name}", route.Administrator, route.Front, f.doToReplica),
	}
	if f == nil {
		return route.WithoutHandlers(rows)
	}
	return rows
}

// fail answers a request that no replica has answered, by the error of the transport.
func (f *Front) fail(w http.ResponseWriter, r *http.Request, err error) {
	forwarded := forwardedRequestOf(r)
	answered := errReplicaGone
	for _, known := range []error{errNoReplica, errNoFiles, errReplicaHung} {
		if errors.Is(err, known) {
			answered = known
		}
	}
	if forwarded.hasKey && (errors.Is(answered, errReplicaGone) || errors.Is(answered, errReplicaHung)) {
		answered = errAllGone
	}
	if r.Context().Err() == nil {
		f.Log.Warn(r.Method+" "+r.URL.Path, "replica", forwarded.replicaName(), "error", err)
	}
	if forwarded.orderID != "" {
		answered = answer.WithOrderID(forwarded.orderID, answered)
	}
	answer.Error(w, answered)
}

// list answers GET /replicas.
func (f *Front) list(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
	defer cancel()
	locks := make([]string, len(f.Cluster.replicas))
	var requests sync.WaitGroup
	for i, replica := range f.Cluster.replicas {
		if address, hangs, _ := replica.endpoint(); address != "" && !hangs && replica.answer().State != Paused {
			requests.Go(func() { locks[i] = lockOf(ctx, address) })
		}
	}
	requests.Wait()
	answers := f.Cluster.Replicas()
	for i := range answers {
		answers[i].Lock = locks[i]
	}
	answer.Write(w, http.StatusOK, answers)
	return nil
}

// answer returns the description of the replica for GET /replicas, without its lock.
func (r *Replica) answer() ReplicaAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state
	if r.stopped {
		state = Paused
	}
	return ReplicaAnswer{
		Name: r.Name, PID: r.pid, Address: r.addr, State: state, Restarts: r.restarts, InFlight: r.pendingRequests.Load(),
	}
}

// lockOf asks a replica for the name of its lock; "" if it does not answer.
func lockOf(ctx context.Context, address string) string {
	var answer api.LockAnswer
	if get(ctx, http.DefaultClient, address, "/lock", &answer) != nil {
		return ""
	}
	return answer.Version
}
