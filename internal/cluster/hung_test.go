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

// watchedFrontOf is a front that watches its replicas, with less patience than usual, but more than a busy machine needs.
func watchedFrontOf(t *testing.T, giveUp time.Duration, addrs ...string) *httptest.Server {
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

// hangable is a replica that answers nothing while it hangs.
type hangable struct {
	*httptest.Server
	sales atomic.Int64

	mu   sync.Mutex
	wake chan struct{} // nil while it does not hang
}

func newHangable(t *testing.T) *hangable {
	t.Helper()
	h := &hangable{}
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
		h.goOn()
		h.Close()
	})
	return h
}

func (h *hangable) hang() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wake = make(chan struct{})
}

func (h *hangable) goOn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.wake != nil {
		close(h.wake)
	}
	h.wake = nil
}

func (h *hangable) addr() string { return h.Listener.Addr().String() }

// untilState waits until the front says that of its first replica.
func untilState(t *testing.T, front *httptest.Server, want State) {
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

func TestFrontLeavesOutAReplicaThatHangs(t *testing.T) {
	t.Parallel()
	hangs, other := newHangable(t), newHangable(t)
	front := watchedFrontOf(t, time.Minute, hangs.addr(), other.addr())
	hangs.hang()
	untilState(t, front, Hung)
	for range 10 {
		if status, text := ask(t, "POST", front.URL+"/inventory/sale", nil); status != 200 {
			t.Errorf("%d %s; want 200", status, text)
		}
	}
	if n := hangs.sales.Load(); n != 0 {
		t.Errorf("%d sales were sent to the replica that hangs", n)
	}
	hangs.goOn()
	untilState(t, front, Up)
	for range 10 {
		ask(t, "POST", front.URL+"/inventory/sale", nil)
	}
	if hangs.sales.Load() == 0 {
		t.Error("no sale was sent to the replica that answers again")
	}
}

// Buyers that come all the time do not pile up at the replica that answers none of them, known to hang or not.
func TestFrontSendsToWhoeverHasFewest(t *testing.T) {
	hangs, other := newHangable(t), newHangable(t)
	front, its := newFront(t, open, hangs.addr(), other.addr())
	hangs.hang()
	var held sync.WaitGroup
	for range 2 { // one of them goes to the other
		held.Go(func() { ask(t, "POST", front.URL+"/inventory/sale", nil) })
	}
	for hangs.sales.Load()+other.sales.Load() < 2 {
		ask(t, "GET", other.URL, nil) // lets time pass
	}
	for range 20 {
		for its.Cluster.replicas[1].held.Load() > 0 { // a buyer may have its answer before the front has counted it
			ask(t, "GET", other.URL, nil) // lets time pass
		}
		ask(t, "POST", front.URL+"/inventory/sale", nil)
	}
	if n := hangs.sales.Load(); n != 1 {
		t.Errorf("%d sales were sent to the replica that hangs; want 1", n)
	}
	hangs.goOn()
	held.Wait()
}

// What a replica held that hangs for good is answered, with the order to look for, and not sent again.
func TestFrontAnswersPendingRequestsOfHungReplica(t *testing.T) {
	t.Parallel()
	hangs := newHangable(t)
	front := watchedFrontOf(t, 200*time.Millisecond, hangs.addr())
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
		t.Errorf("the replica was sent %d sales; want the first alone", n)
	}
	hangs.goOn()
	untilState(t, front, Up)
	if status, text := ask(t, "POST", front.URL+"/inventory/sale", nil); status != 200 {
		t.Errorf("when it answers again: %d %s; want 200", status, text)
	}
}

// What a replica held that hangs for good goes to another one, if it has a key.
func TestFrontRetriesKeyedSaleOfHungReplica(t *testing.T) {
	t.Parallel()
	hangs, other := newHangable(t), newHangable(t)
	front := watchedFrontOf(t, 200*time.Millisecond, hangs.addr(), other.addr())
	hangs.hang()
	for hangs.sales.Load() == 0 { // they take turns
		if status, text := ask(t, "POST", front.URL+"/inventory/sale", http.Header{"Idempotency-Key": {"1"}}); status != 200 {
			t.Errorf("%d %s; want 200, of the other replica", status, text)
		}
	}
}

// The replica is told which order a sale makes, by the front alone, and of nothing but sales.
func TestFrontNamesTheOrder(t *testing.T) {
	got := make(chan string, 1)
	replica := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			got <- r.Header.Get(api.OrderIDHeader)
		}
	}))
	t.Cleanup(replica.Close)
	front := frontOf(t, open, replica.Listener.Addr().String())
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/inventory/sale", "order-1"}, {"GET", "/inventory", ""}, {"POST", "/inventory/sale", "order-2"},
	} {
		ask(t, c.method, front.URL+c.path, http.Header{api.OrderIDHeader: {"mine"}})
		if id := <-got; id != c.want {
			t.Errorf("%s %s is for the order %q; want %q", c.method, c.path, id, c.want)
		}
	}
}

// A replica that refuses connections is ending, and may still have sales to finish: it does not hang.
func TestRefusedConnectionIsNoTimeout(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: patience}
	if err := get(t.Context(), client, suite.UnusedAddr(t), "/healthz", nil); err == nil || isTimeout(err) {
		t.Errorf("refused: %v; want an error that is not late", err)
	}
	client.Timeout = 100 * time.Millisecond
	if err := get(t.Context(), client, silent.Addr().String(), "/healthz", nil); !isTimeout(err) {
		t.Errorf("silent: %v; want it late", err)
	}
}
