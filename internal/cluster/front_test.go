package cluster

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/test/suite"
)

// newFrontServer returns a server with a front for replicas at these addresses; "": not started.
func newFrontServer(t *testing.T, guard api.Guard, addrs ...string) *httptest.Server {
	t.Helper()
	server, _ := newFront(t, guard, addrs...)
	return server
}

// newFront returns a front for replicas at these addresses, and its server.
func newFront(t *testing.T, guard api.Guard, addrs ...string) (*httptest.Server, *Front) {
	t.Helper()
	c := &Cluster{}
	for i, addr := range addrs {
		replica := newReplica(fmt.Sprintf("r%d", i+1), nil, time.Second, slog.New(slog.DiscardHandler))
		if addr != "" {
			replica.set(Up, addr, 1)
		}
		c.replicas = append(c.replicas, replica)
	}
	var ids atomic.Int64
	front := &Front{
		Cluster: c, Log: slog.New(slog.DiscardHandler), Transport: NewTransport(),
		NewID: func() string { return fmt.Sprint("order-", ids.Add(1)) },
	}
	handler := api.NewHandler(guard, front.PassOn(append((&api.API{}).Routes(), front.Routes()...)))
	server := httptest.NewServer(&api.Entrance{Next: handler, Log: front.Log})
	t.Cleanup(func() {
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return server, front
}

// patience is the longest time that a test waits for an answer.
const patience = 10 * time.Second

// ask sends a request, and returns the status and the body.
func ask(t *testing.T, method, url string, header http.Header) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

var open = api.Guard{Open: true}

func TestFrontUsesReplicasInTurn(t *testing.T) {
	var asked [3]atomic.Int64
	var addrs []string
	for i := range asked {
		replica := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked[i].Add(1) }))
		t.Cleanup(replica.Close)
		addrs = append(addrs, replica.Listener.Addr().String())
	}
	front := newFrontServer(t, open, addrs[0], "", addrs[1], addrs[2]) // the second is restarting
	for range 30 {
		if status, text := ask(t, "POST", front.URL+"/inventory/sale", nil); status != 200 {
			t.Errorf("%d %s", status, text)
		}
	}
	for i := range asked {
		if asked[i].Load() < 7 {
			t.Errorf("replica %d had %d of 30 requests", i, asked[i].Load())
		}
	}
}

// A replica that closes the connection after it received a sale may have sold, so the front does not send the sale again, whatever the
// client's headers.
func TestFrontNeverResendsSaleWithoutKey(t *testing.T) {
	var got atomic.Int64
	breaks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/warm" {
			return
		}
		got.Add(1)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	}))
	t.Cleanup(breaks.Close)
	front := newFrontServer(t, open, breaks.Listener.Addr().String())
	ask(t, "GET", front.URL+"/warm", nil) // net/http would repeat a request only on a reused connection
	status, text := ask(t, "POST", front.URL+"/inventory/sale", http.Header{"Idempotency-Key": {"1"}, "X-Idempotency-Key": {"1"}})
	if status != 502 || !strings.Contains(text, `"code":"bad_gateway"`) || got.Load() != 1 {
		t.Errorf("%d %s, and the replica got it %d times; want 502 and once", status, text, got.Load())
	}
}

// If a replica does not answer a sale with a key, the sale goes to the next replica, as the same order. If none answers, the front does not
// claim that the sale was not made.
func TestFrontResendsSaleWithKey(t *testing.T) {
	breaks, asked := func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	}, make(chan http.Header, 10)
	var addrs []string
	for range 3 {
		replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				return
			}
			asked <- r.Header
			if len(asked)%3 != 0 {
				breaks(w, r)
			}
		}))
		t.Cleanup(replica.Close)
		addrs = append(addrs, replica.Listener.Addr().String())
	}
	header := http.Header{"Idempotency-Key": {`"1"`}, "X-Idempotency-Key": {"2"}}
	all := newFrontServer(t, open, append(addrs, suite.UnusedAddr(t))...)
	for range 6 {
		ask(t, "GET", all.URL+"/inventory", nil) // net/http would repeat a request only on a reused connection
	}
	if status, text := ask(t, "POST", all.URL+"/inventory/sale", header); status != 200 || len(asked) != 3 {
		t.Errorf("%d %s, after %d replicas; want 200, of the third", status, text, len(asked))
	}
	for _, got := range drain(asked) {
		if got.Get("Idempotency-Key") != `"1"` || got.Get("X-Idempotency-Key") != "" || got.Get(api.OrderIDHeader) != api.OrderOfKey("1") {
			t.Errorf("a replica was sent %v; want the key, and its order", got)
		}
	}
	for _, addrs := range [][]string{addrs[:2], {addrs[0], suite.UnusedAddr(t), addrs[1]}} {
		front := newFrontServer(t, open, addrs...)
		status, text := ask(t, "POST", front.URL+"/inventory/sale", header)
		if status != 502 || !strings.Contains(text, "retry with the same Idempotency-Key") || !strings.Contains(text, api.OrderOfKey("1")) ||
			len(asked) != 2 {
			t.Errorf("%d %s, after %d replicas; want 502 after both, and what to do", status, text, len(asked))
		}
		drain(asked)
	}
	if status, text := ask(t, "PUT", newFrontServer(t, open, addrs...).URL+"/inventory", header); status != 502 || len(asked) != 1 {
		t.Errorf("a change with a key: %d %s, after %d replicas; want 502 after one", status, text, len(asked))
	}
	for _, got := range drain(asked) {
		if got.Get("Idempotency-Key") != "" {
			t.Errorf("a change was sent with %v", got)
		}
	}
	bad := http.Header{"Idempotency-Key": {`""`}}
	status, text := ask(t, "POST", all.URL+"/inventory/sale", bad)
	if status != 400 || len(asked) != 0 || !strings.Contains(text, "bad_request") {
		t.Errorf("an empty key: %d %s, after %d replicas; want 400", status, text, len(asked))
	}
}

// drain returns the values in a channel.
func drain(from chan http.Header) (all []http.Header) {
	for len(from) > 0 {
		all = append(all, <-from)
	}
	return all
}

func TestFrontAnswersWithoutReplicas(t *testing.T) {
	nobody := newFrontServer(t, open, "")
	if status, text := ask(t, "POST", nobody.URL+"/inventory/sale", nil); status != 503 || !strings.Contains(text, "no_replica") {
		t.Errorf("none is up: %d %s; want 503 no_replica", status, text)
	}
	status, text := ask(t, "POST", newFrontServer(t, open, suite.UnusedAddr(t)).URL+"/inventory/sale", nil)
	if status != 503 || !strings.Contains(text, "no_replica") {
		t.Errorf("one just ended, so the sale was not sent: %d %s; want 503 no_replica", status, text)
	}
}

// A request that could not be sent goes to another replica, with its body.
func TestFrontRetriesUnsentRequests(t *testing.T) {
	var got atomic.Int64
	replica := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if text, err := io.ReadAll(r.Body); err == nil && string(text) == `{"stock":7}` {
			got.Add(1)
		}
	}))
	t.Cleanup(replica.Close)
	front := newFrontServer(t, open, suite.UnusedAddr(t), replica.Listener.Addr().String(), suite.UnusedAddr(t))
	for range 9 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, front.URL+"/inventory", strings.NewReader(`{"stock":7}`))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != 200 {
			t.Errorf("%d; want 200", response.StatusCode)
		}
	}
	if got.Load() != 9 {
		t.Errorf("the replica that is there got %d of 9 requests", got.Load())
	}
}

// The front itself refuses a body that is too long, on every path.
func TestFrontRefusesLongBodies(t *testing.T) {
	front := newFrontServer(t, open, "")
	for _, path := range []string{"/replicas", "/inventory"} {
		response, err := http.Post(front.URL+path, "", strings.NewReader(strings.Repeat("x", 1<<20)))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != 400 {
			t.Errorf("%s with a body of a megabyte: %d; want 400", path, response.StatusCode)
		}
	}
}

func TestFrontRequiresToken(t *testing.T) {
	replica := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(replica.Close)
	front := newFrontServer(t, api.Guard{Token: "secret"}, replica.Listener.Addr().String())
	for _, c := range []struct {
		method, token string
		status        int
	}{
		{"PUT", "", 401}, {"PUT", "Bearer guess", 403}, {"PUT", "Bearer secret", 200},
		{"DELETE", "", 401}, {"DELETE", "Bearer secret", 200},
		{"POST", "", 405}, {"POST", "Bearer secret", 405}, {"GET", "", 200},
	} {
		header := http.Header{}
		if c.token != "" {
			header.Set("Authorization", c.token)
		}
		if status, text := ask(t, c.method, front.URL+"/lock", header); status != c.status {
			t.Errorf("%s with %q: %d %s; want %d", c.method, c.token, status, text, c.status)
		}
	}
}

// The answers of replicas and of the front itself have the common headers once.
func TestFrontAnswersCarryEachHeaderOnce(t *testing.T) {
	replica := httptest.NewServer(&api.Entrance{Next: http.NotFoundHandler(), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(replica.Close)
	front := newFrontServer(t, api.Guard{}, strings.TrimPrefix(replica.URL, "http://"))
	for _, path := range []string{"/inventory", "/replicas"} {
		response, err := http.Get(front.URL + path) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Values("X-Content-Type-Options"); len(got) != 1 || got[0] != "nosniff" {
			t.Errorf("%s: %q; want nosniff, once", path, got)
		}
	}
}

// HEAD is answered like GET, without a body. A path with additional slashes is a different path.
func TestFrontAnswersHeadAndLiteralPaths(t *testing.T) {
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "sold") }))
	t.Cleanup(replica.Close)
	front := newFrontServer(t, open, replica.Listener.Addr().String())
	for request, want := range map[string]string{
		"GET /inventory": "200 sold", "HEAD /inventory": "200 ", "HEAD /replicas": "200 ",
		"HEAD /nowhere": "404 ", "HEAD /inventory/sale": "405 ",
	} {
		method, path, _ := strings.Cut(request, " ")
		if status, text := ask(t, method, front.URL+path, nil); fmt.Sprint(status, " ", text) != want {
			t.Errorf("%s: %d %s; want %s", request, status, text, want)
		}
	}
	for _, request := range []string{
		"POST //inventory//sale", "POST /inventory//sale", "GET //", "GET /./inventory", "GET /lock/../inventory",
		"GET //replicas", "GET /replicas/",
	} {
		method, path, _ := strings.Cut(request, " ")
		if status, text := ask(t, method, front.URL+path, nil); status != 404 || !strings.Contains(text, "not_found") {
			t.Errorf("%s: %d %s; want 404 not_found", request, status, text)
		}
	}
}
