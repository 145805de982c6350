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

// stage serves the page, with a shop that does what a test says.
type stage struct {
	*httptest.Server

	mu      sync.Mutex
	changed chan struct{} // closed when there is something new
	frames  []string      // of the stream, from the first on
	cut     int           // how often the stream was cut
	gone    bool          // nobody answers
	mute    bool          // streams are not answered yet
	reading int           // streams that are open
	token   string        // what changes ask for
	heard   []string      // requests that change something, and Last-Event-ID of streams
	done    string        // what is told of the burst; empty: that it is going on
	held    chan struct{} // sales wait for it; nil: they do not
}

func newStage(t *testing.T) *stage {
	t.Helper()
	needsChrome(t)
	s := &stage{changed: make(chan struct{})}
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
	answer("GET /lock", `{"key":{"type":"string","holder":"dead","ttl_ms":8000}}`)
	answer("DELETE /lock", `{"released":true}`)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.cutOff(true)
		s.Close()
	})
	return s
}

// tell wakes whoever waits for something new.
func (s *stage) tell(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// send adds a frame to the stream.
func (s *stage) send(event, data string) {
	s.tell(func() {
		s.frames = append(s.frames, fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", len(s.frames)+1, event, strings.ReplaceAll(data, "\n", " ")))
	})
}

// cutOff ends all streams, and begins no other one if nobody answers any more.
func (s *stage) cutOff(gone bool) { s.tell(func() { s.cut, s.gone = s.cut+1, gone }) }

func (s *stage) live(w http.ResponseWriter, r *http.Request) {
	last := 0
	_, _ = fmt.Sscan(r.Header.Get("Last-Event-ID"), &last)
	s.mu.Lock()
	began, gone := s.cut, s.gone
	s.heard = append(s.heard, "stream from "+fmt.Sprint(last))
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

// note reports whether the request may pass.
func (s *stage) note(w http.ResponseWriter, r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		return true
	}
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":"unauthorized","message":"this needs the token"}}`)
		return false
	}
	s.heard = append(s.heard, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	return true
}

func (s *stage) sale(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.heard = append(s.heard, "POST /inventory/sale")
	held := s.held
	s.mu.Unlock()
	if held != nil {
		<-held
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"order_id": "0123456789", "replica": "r1", "stock_before": 200, "stock_after": 199})
}

// hears waits until a request has come so often.
func (s *stage) hears(t *testing.T, request string, times int) {
	t.Helper()
	for end := time.Now().Add(patience); s.count(request) < times; time.Sleep(look) {
		if time.Now().After(end) {
			t.Fatalf("%q did not come %d times; there were %q", request, times, s.heard)
		}
	}
}

func (s *stage) count(request string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, heard := range s.heard {
		if heard == request {
			n++
		}
	}
	return n
}

// open counts a stream, once it is answered; it reports whether anybody waits for that.
func (s *stage) open(r *http.Request) bool {
	for {
		s.mu.Lock()
		mute, changed := s.mute, s.changed
		if !mute {
			s.reading++
		}
		s.mu.Unlock()
		if !mute {
			return true
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return false
		}
	}
}

// streams waits until so many are open.
func (s *stage) streams(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(look) {
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
