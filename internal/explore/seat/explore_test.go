package seat_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/explore/session"
)

// event is an event of a stream.
type event struct{ name, data string }

// stream parses the events of a complete stream.
func stream(t testing.TB, text string) (all []event) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(block, "\ndata: ")
		all = append(all, event{strings.TrimPrefix(name, "event: "), data})
	}
	return all
}

// lastEvent requests a stream and returns the data of its last event, which must be done.
func lastEvent[T any](t testing.TB, s http.Handler, path string, pairs ...string) (said T) {
	t.Helper()
	all := stream(t, ask(t, s, path, pairs...).Body.String())
	end := all[len(all)-1]
	if err := json.Unmarshal([]byte(end.data), &said); err != nil || end.name != "done" {
		t.Fatalf("%s %v: %v, %+v", path, pairs, err, end)
	}
	return said
}

// oracle requests an oracle.
func oracle(t testing.TB, s http.Handler, pairs ...string) session.Oracle {
	t.Helper()
	return lastEvent[session.Oracle](t, s, "/seat/oracle", pairs...)
}

// Following the hints reaches the anomaly in as many steps as they say, and the oracle's distances agree.
func TestHintsFollowShortestPath(t *testing.T) {
	s := open(t, limitsWithoutTable())
	for _, at := range positions() {
		pairs := func(do []string) []string {
			return []string{"lock", at.lock, "in", at.in, "do", strings.Join(do, " "), "anomaly", string(at.anomaly)}
		}
		var do []string
		for left := len(strings.Fields(at.do)); ; left-- {
			hint, o := get[session.Hint](t, s, "/seat/hint", pairs(do)...), oracle(t, s, pairs(do)...)
			if hint.Steps != left || o.Now != left || o.Path[len(do)] != left || left > 0 && o.Choices[hint.Next] != left-1 {
				t.Fatalf("%s after %v: hint %+v, oracle %+v; want %d steps", at.lock, do, hint, o, left)
			}
			if left == 0 {
				break
			}
			do = append(do, hint.Next)
		}
	}
}

// While one client explores, the next waits and a third gets ErrBusy. When the first has left, the next one explores.
func TestExplorationsTakeTurns(t *testing.T) {
	limits := limitsWithoutTable()
	limits.ExplorationQueue, limits.MaxWait = 1, 10*time.Millisecond
	s := open(t, limits)
	server := httptest.NewServer(s)
	defer server.Close()
	large := "/seat/oracle?" + query("lock", "v6", "in", "--actors 4 --faults expiry=3,crash=3", "anomaly", "stuck")
	read := func(ctx context.Context, path string) *bufio.Scanner {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return bufio.NewScanner(answer.Body)
	}
	first, leave := context.WithCancel(t.Context())
	defer leave()
	scanUntil(t, read(first, large), `"waiting":false`)
	second := read(t.Context(), "/seat/oracle?"+query("lock", "v0", "anomaly", "lost-update"))
	scanUntil(t, second, `"waiting":true`)
	for _, path := range []string{"/seat/hint", "/seat/oracle", "/seat/explore", "/seat/table"} {
		w := ask(t, s, path, "lock", "v1", "anomaly", "stuck")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s of the third: %d %s; want it to be busy", path, w.Code, w.Body)
		}
	}
	leave()
	scanUntil(t, second, "event: done")
	http.DefaultClient.CloseIdleConnections()
}

// Close ends the exploration in progress, and the one that waits.
func TestCloseEndsExplorations(t *testing.T) {
	s := open(t, limitsWithoutTable())
	defer s.Close()
	last := make(chan string, 2)
	for range 2 {
		begun := make(chan struct{})
		begin := sync.OnceFunc(func() { close(begun) })
		go func() {
			var name string
			for event := range events(t, s, "/seat/table") {
				if name = event.name; name == "progress" {
					begin()
				}
			}
			last <- name
		}()
		<-begun
	}
	s.Close()
	for range 2 {
		select {
		case name := <-last:
			if name != "failed" {
				t.Errorf("the last event is %q; want failed", name)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the exploration continues after Close")
		}
	}
}

// scanUntil reads lines until one contains a text.
func scanUntil(t *testing.T, lines *bufio.Scanner, text string) {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	t.Fatalf("the stream ends without %q: %v", text, lines.Err())
}
