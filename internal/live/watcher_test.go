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

// frame is one that a watcher was sent.
type frame struct{ id, name, data string }

// watcher reads frames.
type watcher struct {
	t      *testing.T
	frames chan frame
	leave  context.CancelFunc
	seen   []frame
}

func watch(t *testing.T, url, lang, last string) *watcher {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	w := &watcher{t: t, frames: make(chan frame, 1<<16), leave: leave} // it reads all the time, whatever its test does
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
		read(response, w.frames)
	}()
	t.Cleanup(func() { leave(); <-over })
	return w
}

func read(response *http.Response, frames chan<- frame) {
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

// until reads until a frame has a name and a text, and gives it.
func (w *watcher) until(name, text string) frame {
	w.t.Helper()
	late := time.After(patience)
	for {
		select {
		case f, is := <-w.frames:
			if !is {
				w.t.Fatalf("the stream ended before %s with %q; seen: %v", name, text, w.seen)
			}
			w.seen = append(w.seen, f)
			if f.name == name && strings.Contains(f.data, text) {
				return f
			}
		case <-late:
			w.t.Fatalf("there is no %s with %q; seen: %v", name, text, w.seen)
		}
	}
}

// show serves a hub.
func show(t *testing.T, shop live.Shop, change ...func(*live.Hub)) (*live.Hub, string) {
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

// often has the shop looked at all the time.
func often(h *live.Hub) { h.IdlePollInterval = 50 * time.Millisecond }

func linger(d time.Duration) func(*live.Hub) { return func(h *live.Hub) { h.LingerTime = d } }

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.After(patience)
	for !holds() {
		select {
		case <-late:
			t.Fatal("still not: " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func decode(t *testing.T, f frame, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.data), into); err != nil {
		t.Fatalf("%s: %v", f.data, err)
	}
}
