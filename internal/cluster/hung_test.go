package cluster

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/test/suite"
)

// newWatchedFront returns a front that watches its replicas, with short timeouts that a busy machine still meets.
func newWatchedFront(t *testing.T, giveUp time.Duration, addrs ...string) *httptest.Server {
	t.Helper()
	server, front := newFront(t, open, addrs...)
	front.Patience = Patience{Ask: 10 * time.Millisecond, Hung: 500 * time.Millisecond, GiveUp: giveUp}
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		front.Watch(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-watched
	})
	return server
}

// hangableReplica is a replica that can be made to hang: it then answers nothing.
type hangableReplica struct {
	*httptest.Server
	sales atomic.Int64

	mu   sync.Mutex
	wake chan struct{} // closed when it resumes; nil: it does not hang
}

func newHangable(t *testing.T) *hangableReplica {
	t.Helper()
	h := &hangableReplica{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			h.sales.Add(1)
		}
		h.mu.Lock()
		wake := h.wake
		h.mu.Unlock()
		if wake != nil {
			<-wake
		}
	}))
	t.Cleanup(func() {
		h.resume()
		h.Close()
	})
	return h
}

func (h *hangableReplica) hang() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wake = make(chan struct{})
}

func (h *hangableReplica) resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.wake != nil {
		close(h.wake)
	}
	h.wake = nil
}

func (h *hangableReplica) addr() string { return h.Listener.Addr().String() }

// awaitState waits until the front reports this state of its first replica.
func awaitState(t *testing.T, front *httptest.Server, want State) {
	t.Helper()
	deadline := time.After(patience)
	for {
		_, text := ask(t, "GET", front.URL+"/replicas", nil)
		var answers []ReplicaAnswer
		if err := json.Unmarshal([]byte(text), &answers); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if answers[0].State == want {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the replica is %s; want %s", answers[0].State, want)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestFrontBypassesHungReplica(t *testing.T) {
	t.Parallel()
	hangs, other := newHangable(t), newHangable(t)
	front := newWatchedFront(t, time.Minute, hangs.addr(), other.addr())
	hangs.hang()
	awaitState(t, front, Hung)
	for range 10 {
		if status, text := ask(t, "POST", front.URL+"/inventory/sale", nil); status != 200 {
			t.Errorf("%d %s; want 200", status, text)
		}
	}
	if n := hangs.sales.Load(); n != 0 {
		t.Errorf("%d sales were sent to the replica that hangs", n)
	}
	hangs.resume()
	awaitState(t, front, Up)
	for range 10 {
		ask(t, "POST", front.URL+"/inventory/sale", nil)
	}
	if hangs.sales.Load() == 0 {
		t.Error("no sale was sent to the replica that answers again")
	}
}

// Buyers do not pile up at a hung replica, even before it is known to hang.
func TestFrontPrefersReplicaWithFewestRequests(t *testing.T) {
	hangs, other := newHangable(t), newHangable(t)
	front, its := newFront(t, open, hangs.addr(), other.addr())
	hangs.hang()
	var held sync.WaitGroup
	for range 2 { // one goes to each replica
		held.Go(func() { ask(t, "POST", front.URL+"/inventory/sale", nil) })
	}
	for hangs.sales.Load()+other.sales.Load() < 2 {
		ask(t, "GET", other.URL, nil) // lets time pass
	}
	for range 20 {
		for its.Cluster.replicas[1].pendingRequests.Load() > 0 { // the front counts an answer only after the buyer has it
			ask(t, "GET", other.URL, nil) // lets time pass
		}
		ask(t, "POST", front.URL+"/inventory/sale", nil)
	}
	if n := hangs.sales.Load(); n != 1 {
		t.Errorf("%d sales were sent to the replica that hangs; want 1", n)
	}
	hangs.resume()
	held.Wait()
}

// The requests that a hung replica holds are answered with the id of their order, and are not sent again.
func TestFrontAnswersPendingRequestsOfHungReplica(t *testing.T) {
	t.Parallel()
	hangs := newHangable(t)
	front := newWatchedFront(t, 200*time.Millisecond, hangs.addr())
	hangs.hang()
	for _, header := range []http.Header{nil, {api.OrderIDHeader: {"mine"}}} {
		status, text := ask(t, "POST", front.URL+"/inventory/sale", header)
		var answer api.ErrorAnswer
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if header == nil && (status != 502 || answer.Error.Code != "bad_gateway" || answer.Error.OrderID != "order-1") {
			t.Errorf("%d %s; want 502 bad_gateway of order-1", status, text)
		}
		if header != nil && (status != 503 || answer.Error.Code != "no_replica" || answer.Error.OrderID != "order-2") {
			t.Errorf("after it was given up: %d %s; want 503 no_replica of order-2", status, text)
		}
	}
	if n := hangs.sales.Load(); n != 1 {
		t.Errorf("the replica got %d sales; want only the first", n)
	}
	hangs.resume()
	awaitState(t, front, Up)
	if status, text := ask(t, "POST", front.URL+"/inventory/sale", nil); status != 200 {
		t.Errorf("when it answers again: %d %s; want 200", status, text)
	}
}

// A sale with a key that a hung replica holds goes to another replica.
func TestFrontRetriesKeyedSaleOfHungReplica(t *testing.T) {
	t.Parallel()
	hangs, other := newHangable(t), newHangable(t)
	front := newWatchedFront(t, 200*time.Millisecond, hangs.addr(), other.addr())
	hangs.hang()
	for hangs.sales.Load() == 0 { // until the hung replica has its turn
		if status, text := ask(t, "POST", front.URL+"/inventory/sale", http.Header{"Idempotency-Key": {"1"}}); status != 200 {
			t.Errorf("%d %s; want 200, of the other replica", status, text)
		}
	}
}

// Only the front sets the order id, and only for sales.
func TestFrontSetsOrderID(t *testing.T) {
	got := make(chan string, 1)
	replica := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			got <- r.Header.Get(api.OrderIDHeader)
		}
	}))
	t.Cleanup(replica.Close)
	front := newFrontServer(t, open, replica.Listener.Addr().String())
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/inventory/sale", "order-1"}, {"GET", "/inventory", ""}, {"POST", "/inventory/sale", "order-2"},
	} {
		ask(t, c.method, front.URL+c.path, http.Header{api.OrderIDHeader: {"mine"}})
		if id := <-got; id != c.want {
			t.Errorf("%s %s is for the order %q; want %q", c.method, c.path, id, c.want)
		}
	}
}

// A replica that refuses connections is ending, and may still have sales to finish, so it does not count as hung.
func TestRefusedConnectionIsNoTimeout(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections without answering
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: patience}
	if err := get(t.Context(), client, suite.UnusedAddr(t), "/healthz", nil); err == nil || isTimeout(err) {
		t.Errorf("refused: %v; want an error that is no timeout", err)
	}
	client.Timeout = 100 * time.Millisecond
	if err := get(t.Context(), client, silent.Addr().String(), "/healthz", nil); !isTimeout(err) {
		t.Errorf("silent: %v; want a timeout", err)
	}
}
