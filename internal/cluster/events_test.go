package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/witness"
)

// fakeReplica is a replica that streams the events of a recorder.
type fakeReplica struct {
	*httptest.Server
	recorder atomic.Pointer[witness.Recorder] // recorder of the replica's current process
	came     atomic.Int64                     // number of streams opened so far
	left     chan struct{}                    // one value for each stream that was closed
}

func newFakeReplica(t *testing.T, process string) *fakeReplica {
	t.Helper()
	r := &fakeReplica{left: make(chan struct{}, 100)}
	r.recorder.Store(witness.NewRecorder("r1", process, time.Now))
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.came.Add(1)
		r.recorder.Load().ServeHTTP(w, request)
		r.left <- struct{}{}
	}))
	t.Cleanup(func() {
		r.recorder.Load().Close() // otherwise an open stream would block Server.Close
		r.Close()
	})
	return r
}

// addEvents records a number of events of the replica.
func (r *fakeReplica) addEvents(times int) {
	for range times {
		r.recorder.Load().Note(witness.KindStops)
	}
}

// newEventFront returns a front that streams the events of these replicas.
func newEventFront(t *testing.T, replicas ...*fakeReplica) *httptest.Server {
	t.Helper()
	var addrs []string
	for _, replica := range replicas {
		addrs = append(addrs, replica.Listener.Addr().String())
	}
	_, front := newFront(t, open, addrs...)
	front.Patience.Ask = time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = front.ServeEvents(w, r) }))
	t.Cleanup(server.Close)
	return server
}

// follower is a client that follows the events of a front.
type follower struct {
	events chan string // id and kind of each event
	leave  func()
}

func follow(t *testing.T, front *httptest.Server, seen string) follower {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	f, ended := follower{events: make(chan string)}, make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = witness.Follow(ctx, client, front.URL, seen, func(id string, event witness.Event) {
			select {
			case f.events <- fmt.Sprint(id, " ", event.Kind):
			case <-ctx.Done():
			}
		})
	}()
	f.leave = func() { cancel(); <-ended }
	t.Cleanup(f.leave)
	return f
}

// next waits for the next n events.
func (f follower) next(t *testing.T, n int) (told []string) {
	t.Helper()
	late := time.After(patience)
	for range n {
		select {
		case event := <-f.events:
			told = append(told, event)
		case <-late:
			t.Fatalf("received %d events; want %d", len(told), n)
		}
	}
	return told
}

// However many clients follow a front, it follows each replica once, and only while it has a follower. All clients get all events, in
// order.
func TestFrontFollowsEachReplicaOnce(t *testing.T) {
	t.Parallel()
	const many, before, after = 10, 100, 50
	replicas := []*fakeReplica{newFakeReplica(t, "p"), newFakeReplica(t, "q")}
	front := newEventFront(t, replicas...)
	happens := func(times int) {
		for _, replica := range replicas {
			replica.addEvents(times)
		}
	}
	happens(before)
	var followers []follower
	all := make([][]string, many)
	for i := range all {
		followers = append(followers, follow(t, front, ""))
		all[i] = followers[i].next(t, 2*before)
	}
	happens(after)
	for i, f := range followers {
		all[i] = append(all[i], f.next(t, 2*after)...)
		f.leave()
	}
	for _, told := range all {
		seen := map[string]int{}
		for _, event := range told {
			ids, _, _ := strings.Cut(event, " ")
			p, q, _ := strings.Cut(ids, ",")
			for process, id := range map[string]string{"p": p, "q": q} {
				if id == fmt.Sprint(process, ":", seen[process]+1) {
					seen[process]++
				}
			}
		}
		if seen["p"] != before+after || seen["q"] != before+after {
			t.Errorf("events received in order: %v; want %d of each", seen, before+after)
		}
	}
	for _, replica := range replicas {
		if n := replica.came.Load(); n != 1 {
			t.Errorf("with %d followers, a replica is followed %d times; want once", many, n)
		}
		select {
		case <-replica.left:
		case <-time.After(patience):
			t.Error("a replica is followed although nobody follows the front")
		}
	}
	follow(t, front, "").next(t, 2*(before+after))
	if n := replicas[0].came.Load(); n != 2 {
		t.Errorf("a replica was followed %d times; want once more", n)
	}
}

// A returning client gets the events after its last one, even while others follow: all events of a new process, and a gap for events that
// were dropped.
func TestFrontResumesAfterLastEventID(t *testing.T) {
	t.Parallel()
	const kept = 1 << 14
	replica := newFakeReplica(t, "p")
	front := newEventFront(t, replica)
	replica.addEvents(10)
	first := follow(t, front, "")
	first.next(t, 10)
	if got := follow(t, front, "p:8").next(t, 2); !slices.Equal(got, []string{"p:9 stops", "p:10 stops"}) {
		t.Errorf("after event 8 of 10: %q", got)
	}
	replica.addEvents(kept)
	first.next(t, kept)
	for seen, want := range map[string][]string{
		"": {"p:10 gap", "p:11 stops"}, "p:9": {"p:10 gap", "p:11 stops"}, "q:1": {"p:10 gap", "p:11 stops"},
		"p:10": {"p:11 stops", "p:12 stops"}, "p:12": {"p:13 stops", "p:14 stops"},
	} {
		if got := follow(t, front, seen).next(t, 2); !slices.Equal(got, want) {
			t.Errorf("after %q: %q; want %q", seen, got, want)
		}
	}
	died := replica.recorder.Swap(witness.NewRecorder("r1", "q", time.Now))
	replica.addEvents(2)
	died.Close()
	want := []string{"q:1 stops", "q:2 stops"}
	if got := first.next(t, 2); !slices.Equal(got, want) {
		t.Errorf("from a new process: %q; want %q", got, want)
	}
	for seen, want := range map[string][]string{"": want, "p:12": want, "q:1": want[1:]} {
		if got := follow(t, front, seen).next(t, len(want)); !slices.Equal(got, want) {
			t.Errorf("from a new process, after %q: %q; want %q", seen, got, want)
		}
	}
}
