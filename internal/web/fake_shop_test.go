package web_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/web"
)

// fakeShop serves the page, and answers its requests as a test sets.
type fakeShop struct {
	*httptest.Server

	mu       sync.Mutex
	changed  chan struct{} // closed at each change
	frames   []string      // all frames of the stream
	cut      int           // number of times that the streams were cut
	gone     bool          // whether streams are refused
	silent   bool          // whether new streams wait for their response
	reading  int           // number of open streams
	token    string        // token that requests for changes need; "": none
	requests []string      // requests that change something, and the Last-Event-ID of streams
	done     string        // state of the burst as JSON; "": it is running
	blocked  chan struct{} // sales wait until it is closed; nil: they do not wait
}

func newFakeShop(t *testing.T) *fakeShop {
	t.Helper()
	needsChrome(t)
	s := &fakeShop{changed: make(chan struct{})}
	mux := http.NewServeMux()
	for at, handler := range web.Handlers() {
		if at == "/" {
			at = "/{$}"
		}
		mux.Handle("GET "+at, handler)
	}
	answer := func(pattern, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if s.note(w, r) {
				_, _ = io.WriteString(w, body)
			}
		})
	}
	mux.HandleFunc("GET /live", s.live)
	mux.HandleFunc("POST /inventory/sale", s.sale)
	answer("GET /live/pair", `{"actors":["A","B"],"steps":[],"says":"A removed B's lock"}`)
	answer("GET /seat", `{"locks":[{"name":"v2","title":"with an expiry"},{"name":"v4","title":"in Lua"}]}`)
	answer("GET /replicas", `[{"name":"r1","state":"up"},{"name":"r2","state":"paused"}]`)
	answer("GET /nodes", `[{"node":1,"state":"up"},{"node":2,"state":"stopped"}]`)
	answer("POST /bursts", `{"id":"b7"}`)
	mux.HandleFunc("GET /bursts/b7", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, cmp.Or(s.done, `{"done":false,"requests":50,"answered":20}`))
	})
	for _, pattern := range []string{"PUT /lock", "PUT /inventory", "PUT /settings", "POST /replicas/{name}", "POST /nodes/{node}",
		"DELETE /bursts/{id}"} {
		answer(pattern, `{}`)
	}
	answer("GET /room/participants", `{}`)
	answer("GET /lock", `{"key":{"type":"string","holder":"dead","ttl_ms":8000}}`)
	answer("DELETE /lock", `{"released":true}`)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.cutOff(true)
		s.Close()
	})
	return s
}

// tell changes the state, and wakes the streams.
func (s *fakeShop) tell(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// send adds a frame to the stream.
func (s *fakeShop) send(event, data string) {
	s.tell(func() {
		s.frames = append(s.frames, fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", len(s.frames)+1, event, strings.ReplaceAll(data, "\n", " ")))
	})
}

// cutOff ends all streams, and refuses new ones if gone is true.
func (s *fakeShop) cutOff(gone bool) { s.tell(func() { s.cut, s.gone = s.cut+1, gone }) }

func (s *fakeShop) live(w http.ResponseWriter, r *http.Request) {
	last := 0
	_, _ = fmt.Sscan(r.Header.Get("Last-Event-ID"), &last)
	s.mu.Lock()
	began, gone := s.cut, s.gone
	s.requests = append(s.requests, "stream from "+fmt.Sprint(last))
	s.mu.Unlock()
	if gone {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	if !s.open(r) {
		return
	}
	defer s.tell(func() { s.reading-- })
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		s.mu.Lock()
		frames, changed, cut := s.frames[last:], s.changed, s.cut
		s.mu.Unlock()
		if cut != began {
			return
		}
		_, _ = io.WriteString(w, strings.Join(frames, ""))
		w.(http.Flusher).Flush()
		last += len(frames)
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// note records a request that changes something, or lists who is in a room, and reports whether it has the token that it needs. If not, it
// answers the request.
func (s *fakeShop) note(w http.ResponseWriter, r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet && r.URL.Path != "/room/participants" {
		return true
	}
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":"unauthorized","message":"this needs the token"}}`)
		return false
	}
	s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	return true
}

func (s *fakeShop) sale(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, "POST /inventory/sale")
	blocked := s.blocked
	s.mu.Unlock()
	if blocked != nil {
		<-blocked
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"order_id": "0123456789", "replica": "r1", "stock_before": 200, "stock_after": 199})
}

// waitForRequest waits until a request was received the given number of times.
func (s *fakeShop) waitForRequest(t *testing.T, request string, times int) {
	t.Helper()
	for end := time.Now().Add(patience); s.count(request) < times; time.Sleep(pollInterval) {
		if time.Now().After(end) {
			t.Fatalf("%q was not received %d times; got %q", request, times, s.requests)
		}
	}
}

func (s *fakeShop) count(request string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, requests := range s.requests {
		if requests == request {
			n++
		}
	}
	return n
}

// open waits until streams are answered, and counts the stream. It reports whether the client is still there.
func (s *fakeShop) open(r *http.Request) bool {
	for {
		s.mu.Lock()
		silent, changed := s.silent, s.changed
		if !silent {
			s.reading++
		}
		s.mu.Unlock()
		if !silent {
			return true
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return false
		}
	}
}

// waitForStreams waits until the given number of streams is open.
func (s *fakeShop) waitForStreams(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(pollInterval) {
		s.mu.Lock()
		open := s.reading
		s.mu.Unlock()
		if open == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d streams are open; want %d", open, want)
		}
	}
}
