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

const askTimeout = 2 * time.Second // for asking the replicas for their lock

var (
	errNoReplica = lock.WithCode("no_replica",
		"no replica takes requests: they are being started again, or hang; this request was sent to none")
	errNoFiles     = lock.WithCode("busy", "the front can open no more connections (ulimit -n); this request was sent to no replica")
	errReplicaGone = lock.WithCode("bad_gateway", "the replica did not answer; the request is not sent again, for it may have sold")
	errReplicaHung = lock.WithCode("bad_gateway",
		"the replica hangs; the request is not sent again, for it may have sold, or may sell when it goes on")
	errAllGone = lock.WithCode("bad_gateway",
		"no replica has answered, and one may have sold, or may sell when it goes on: ask again with the same Idempotency-Key")
)

// Front spreads requests over the replicas of a cluster: each goes to the one with the fewest in flight, and among equals they take
// turns. A sale or a change that may have reached a replica is never sent again, but for a sale with an Idempotency-Key: that goes to the
// replicas one after the other until one answers.
type Front struct {
	Cluster  *Cluster
	NewID    func() string // for the order of each sale
	Patience Patience      // with replicas that do not answer
	Ending   chan struct{} // closed when the streams of events are to end; nil: they end with their watchers
	Log      *slog.Logger

	Transport *http.Transport // to the replicas: see NewTransport

	mu   sync.Mutex // held while a replica is chosen
	next int        // index of the replica whose turn it is

	relay relay
}

// ReplicaAnswer is one line of GET /replicas.
type ReplicaAnswer struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`
	Address  string `json:"address"`
	State    State  `json:"state"`
	Restarts int    `json:"restarts"`
	Lock     string `json:"lock"` // empty if it does not say
	InFlight int64  `json:"in_flight"`
}

// NewTransport returns the transport of a front's connections to replicas.
func NewTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConnsPerHost: 1000, ResponseHeaderTimeout: answerTimeout, IdleConnTimeout: IdleTime,
	}
}

// PassOn returns rows as a front has them: what it does not answer itself it passes on to a replica.
func (f *Front) PassOn(rows []route.Row) []route.Row {
	proxy := f.proxy()
	for i, row := range rows {
		if row.By != route.Front || row.Handle == nil {
			isSale := row.Pattern == api.SalePath
			rows[i].Handle = func(w http.ResponseWriter, r *http.Request) error { return f.passOn(w, r, proxy, isSale) }
		}
	}
	return rows
}

// passOn passes a request on to a replica. A sale gets the id of its order here, so that it is one order whichever replica answers.
func (f *Front) passOn(w http.ResponseWriter, r *http.Request, proxy http.Handler, isSale bool) error {
	trip := &trip{}
	defer trip.over()
	if isSale {
		key, err := api.IdempotencyKey(r.Header)
		if err != nil {
			return err
		}
		if trip.keyed = key != ""; trip.keyed {
			trip.orderID = api.OrderOfKey(key)
		} else {
			trip.orderID = f.NewID()
		}
	}
	proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tripKey{}, trip)))
	return nil
}

// proxy returns what sends requests to replicas.
func (f *Front) proxy() http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			trip := tripOf(r.In)
			// net/http repeats by itself a request with such a header, written so, if its connection breaks
			r.Out.Header.Del(api.IdempotencyKeyHeader)
			r.Out.Header.Del("X-Idempotency-Key")
			if trip.keyed {
				r.Out.Header[strings.ToLower(api.IdempotencyKeyHeader)] = r.In.Header.Values(api.IdempotencyKeyHeader)
			}
			r.Out.Header.Del(api.OrderIDHeader) // no client chooses it
			if trip.orderID != "" {
				r.Out.Header.Set(api.OrderIDHeader, trip.orderID)
			}
		},
		Transport: roads{front: f, transport: f.Transport},
		ModifyResponse: func(response *http.Response) error {
			response.Header.Del("X-Content-Type-Options") // the entrance has set it
			return nil
		},
		ErrorHandler:  f.fail,
		ErrorLog:      slog.NewLogLogger(f.Log.Handler(), slog.LevelWarn),
		FlushInterval: -1,
	}
}

// CloseIdleConnections closes those to replicas. A replica that ends waits some time for a request on each.
func (f *Front) CloseIdleConnections() { f.Transport.CloseIdleConnections() }

// Routes returns the routes of a front alone; of nil, of a server without one.
func (f *Front) Routes() []route.Row {
	rows := []route.Row{
		route.On("GET", "/replicas", route.Reader, route.Front, f.list),
		route.On("POST", "/replicas/{name}", route.Administrator, route.Front, f.doToReplica),
	}
	if f == nil {
		return route.Absent(rows)
	}
	return rows
}

// fail answers a request that no replica has answered.
func (f *Front) fail(w http.ResponseWriter, r *http.Request, err error) {
	trip := tripOf(r)
	says := errReplicaGone
	for _, known := range []error{errNoReplica, errNoFiles, errReplicaHung} {
		if errors.Is(err, known) {
			says = known
		}
	}
	if trip.keyed && (errors.Is(says, errReplicaGone) || errors.Is(says, errReplicaHung)) {
		says = errAllGone
	}
	if r.Context().Err() == nil {
		f.Log.Warn(r.Method+" "+r.URL.Path, "replica", trip.name(), "error", err)
	}
	if trip.orderID != "" {
		says = answer.OfSale(trip.orderID, says)
	}
	answer.Error(w, says)
}

func (f *Front) list(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
	defer cancel()
	locks := make([]string, len(f.Cluster.replicas))
	var asked sync.WaitGroup
	for i, replica := range f.Cluster.replicas {
		if address, hangs, _ := replica.reach(); address != "" && !hangs && replica.answer().State != Paused {
			asked.Go(func() { locks[i] = lockOf(ctx, address) })
		}
	}
	asked.Wait()
	answers := f.Cluster.Replicas()
	for i := range answers {
		answers[i].Lock = locks[i]
	}
	answer.Write(w, http.StatusOK, answers)
	return nil
}

func (r *Replica) answer() ReplicaAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state
	if r.stopped {
		state = Paused
	}
	return ReplicaAnswer{
		Name: r.Name, PID: r.pid, Address: r.addr, State: state, Restarts: r.restarts, InFlight: r.held.Load(),
	}
}

// lockOf asks a replica for its lock.
func lockOf(ctx context.Context, address string) string {
	var answer api.LockAnswer
	if get(ctx, http.DefaultClient, address, "/lock", &answer) != nil {
		return ""
	}
	return answer.Version
}
