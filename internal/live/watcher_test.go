package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lockstep/internal/api/route"
	"lockstep/internal/live"
)

const patience = 20 * time.Second

// frame is a frame that a watcher received.
type frame struct{ id, name, data string }

// frameReader reads the frames of one watcher.
type frameReader struct {
	t      *testing.T
	frames chan frame
	close  context.CancelFunc
	seen   []frame
}

func openStream(t *testing.T, url, lang, last string) *frameReader {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	w := &frameReader{t: t, frames: make(chan frame, 1<<16), close: leave} // the reader never blocks on its test
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/live?lang="+lang, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Last-Event-ID", last)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer close(w.frames)
		scanFrames(response, w.frames)
	}()
	t.Cleanup(func() { leave(); <-over })
	return w
}

func scanFrames(response *http.Response, frames chan<- frame) {
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	var f frame
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.name = value
		case "data":
			f.data = value
			frames <- f
		}
	}
}

// readUntil reads until a frame has a name and contains a text, and returns it.
func (w *frameReader) readUntil(name, text string) frame {
	w.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case f, ok := <-w.frames:
			if !ok {
				w.t.Fatalf("the stream ended before %s with %q; seen: %v", name, text, w.seen)
			}
			w.seen = append(w.seen, f)
			if f.name == name && strings.Contains(f.data, text) {
				return f
			}
		case <-timeout:
			w.t.Fatalf("got no %s with %q; seen: %v", name, text, w.seen)
		}
	}
}

// serveHub serves a hub of a shop.
func serveHub(t *testing.T, shop live.Shop, change ...func(*live.Hub)) (*live.Hub, string) {
	t.Helper()
	hub := &live.Hub{Shop: shop, Now: time.Now}
	for _, do := range change {
		do(hub)
	}
	server := httptest.NewServer(route.Mux((&live.Server{Hub: hub, Bursts: &live.Bursts{}}).Routes()...))
	t.Cleanup(func() {
		hub.Close()
		server.Close()
	})
	return hub, server.URL
}

// pollOften has the run's state requested all the time.
func pollOften(h *live.Hub) { h.IdlePollInterval = 50 * time.Millisecond }

func withLinger(d time.Duration) func(*live.Hub) { return func(h *live.Hub) { h.LingerTime = d } }

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	timeout := time.After(patience)
	for !holds() {
		select {
		case <-timeout:
			t.Fatal("still not: " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func decodeFrame(t *testing.T, f frame, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.data), into); err != nil {
		t.Fatalf("%s: %v", f.data, err)
	}
}
