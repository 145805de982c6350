package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/api"
)

const (
	askTimeout    = 2 * time.Second // for the question to a replica which lock is on
	answerTimeout = 5 * time.Minute // for a replica's answer: longer than any wait for a lock should be
	idleTimeout   = time.Minute     // for a connection to a replica: shorter than the replica's own, or a request could meet its end
)

var (
	errNoReplica   = errors.New("no replica is up; they are being started again")
	errReplicaGone = errors.New("the replica did not answer; the request is not sent again, for it may have sold")
)

// Front spreads requests over the replicas of a cluster, one after the other. It never sends a request twice.
type Front struct {
	Cluster *Cluster
	Guard   api.Guard // for PUT and DELETE: the replicas listen on loopback, where they let everybody
	Log     *slog.Logger

	next atomic.Uint64
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

type chosen struct{}

// Handler gives the front's handler.
func (f *Front) Handler() http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			replica := r.In.Context().Value(chosen{}).(*Replica)
			r.Out.URL.Scheme, r.Out.URL.Host = "http", replica.address()
			r.SetXForwarded()
			// net/http repeats a request with such a key if its connection breaks; a sale is not to be repeated
			r.Out.Header.Del("Idempotency-Key")
			r.Out.Header.Del("X-Idempotency-Key")
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 1000, ResponseHeaderTimeout: answerTimeout, IdleConnTimeout: idleTimeout},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				f.Log.Warn(r.Method+" "+r.URL.Path, "replica", r.Context().Value(chosen{}).(*Replica).Name, "error", err)
			}
			api.WriteError(w, http.StatusBadGateway, "bad_gateway", "", errReplicaGone)
		},
		ErrorLog:      slog.NewLogLogger(f.Log.Handler(), slog.LevelWarn),
		FlushInterval: -1,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /replicas", f.list)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut || r.Method == http.MethodDelete {
			if status, code, err := f.Guard.Check(r.Header); err != nil {
				api.WriteError(w, status, code, "", err)
				return
			}
		}
		replica := f.choose()
		if replica == nil {
			api.WriteError(w, http.StatusServiceUnavailable, "no_replica", "", errNoReplica)
			return
		}
		replica.held.Add(1)
		defer replica.held.Add(-1)
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), chosen{}, replica)))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := api.ReadBody(w, r); err != nil {
			api.WriteError(w, http.StatusBadRequest, "bad_request", "", err)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// choose gives the next replica that is up, or nil.
func (f *Front) choose() *Replica {
	n := uint64(len(f.Cluster.replicas))
	turn := f.next.Add(1)
	for i := range n {
		if replica := f.Cluster.replicas[(turn+i)%n]; replica.address() != "" {
			return replica
		}
	}
	return nil
}

func (f *Front) list(w http.ResponseWriter, r *http.Request) {
	answers := make([]ReplicaAnswer, len(f.Cluster.replicas))
	var asked sync.WaitGroup
	for i, replica := range f.Cluster.replicas {
		replica.mu.Lock()
		answers[i] = ReplicaAnswer{
			Name: replica.Name, PID: replica.pid, Address: replica.addr, State: replica.state,
			Restarts: replica.restarts, InFlight: replica.held.Load(),
		}
		replica.mu.Unlock()
		asked.Go(func() { answers[i].Lock = lockOf(r.Context(), answers[i].Address) })
	}
	asked.Wait()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(answers) // the client went away
}

// lockOf asks a replica which lock is on.
func lockOf(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/lock", http.NoBody)
	if err != nil {
		return ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	var answer api.LockAnswer
	if json.NewDecoder(response.Body).Decode(&answer) != nil {
		return ""
	}
	return answer.Version
}
