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

// told is a replica that streams what a recorder has.
type told struct {
	*httptest.Server
	recorder atomic.Pointer[witness.Recorder] // of its process
	came     atomic.Int64                     // that have followed it
	left     chan struct{}                    // has one for each that follows it no more
}

func newTold(t *testing.T, process string) *told {
	t.Helper()
	r := &told{left: make(chan struct{}, 100)}
	r.recorder.Store(witness.NewRecorder("r1", process, time.Now))
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.came.Add(1)
		r.recorder.Load().ServeHTTP(w, request)
		r.left <- struct{}{}
	}))
	t.Cleanup(func() {
		r.recorder.Load().Close() // or one that follows it yet would hold it up
		r.Close()
	})
	return r
}

// happens has so many things happen to the replica.
func (r *told) happens(times int) {
	for range times {
		r.recorder.Load().Note(witness.KindStops)
	}
}

// eventsOf is a front that streams what these replicas do.
func eventsOf(t *testing.T, replicas ...*told) *httptest.Server {
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

// follower is one that follows a front.
type follower struct {
	told  chan string // the id of each event, and its kind
	leave func()
}

func follow(t *testing.T, front *httptest.Server, seen string) follower {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	f, ended := follower{told: make(chan string)}, make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = witness.Follow(ctx, client, front.URL, seen, func(id string, event witness.Event) {
			select {
			case f.told <- fmt.Sprint(id, " ", event.Kind):
			case <-ctx.Done():
			}
		})
	}()
	f.leave = func() { cancel(); <-ended }
	t.Cleanup(f.leave)
	return f
}

// next waits for the next events that the follower is told of.
func (f follower) next(t *testing.T, n int) (told []string) {
	t.Helper()
	late := time.After(patience)
	for range n {
		select {
		case event := <-f.told:
			told = append(told, event)
		case <-late:
			t.Fatalf("it is told of %d events; want %d", len(told), n)
		}
	}
	return told
}

// However many follow a front, it follows each replica once, and only while somebody follows it. All are told all, in order.
func TestFrontFollowsEachReplicaOnce(t *testing.T) {
	t.Parallel()
	const many, before, after = 10, 100, 50
	replicas := []*told{newTold(t, "p"), newTold(t, "q")}
	front := eventsOf(t, replicas...)
	happens := func(times int) {
		for _, replica := range replicas {
			replica.happens(times)
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
			t.Errorf("it is told %v of each, as they come next; want %d", seen, before+after)
		}
	}
	for _, replica := range replicas {
		if n := replica.came.Load(); n != 1 {
			t.Errorf("of %d followers, a replica is followed %d times; want once", many, n)
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

// One that comes back is told what it has not seen, though others follow: of a new process everything, of what is forgotten that it is.
func TestFrontResumesAfterLastEventID(t *testing.T) {
	t.Parallel()
	const kept = 1 << 14
	replica := newTold(t, "p")
	front := eventsOf(t, replica)
	replica.happens(10)
	first := follow(t, front, "")
	first.next(t, 10)
	if got := follow(t, front, "p:8").next(t, 2); !slices.Equal(got, []string{"p:9 stops", "p:10 stops"}) {
		t.Errorf("after the eighth of ten, it is told %q", got)
	}
	replica.happens(kept)
	first.next(t, kept)
	for seen, want := range map[string][]string{
		"": {"p:10 gap", "p:11 stops"}, "p:9": {"p:10 gap", "p:11 stops"}, "q:1": {"p:10 gap", "p:11 stops"},
		"p:10": {"p:11 stops", "p:12 stops"}, "p:12": {"p:13 stops", "p:14 stops"},
	} {
		if got := follow(t, front, seen).next(t, 2); !slices.Equal(got, want) {
			t.Errorf("after %q it is told %q; want %q", seen, got, want)
		}
	}
	died := replica.recorder.Swap(witness.NewRecorder("r1", "q", time.Now))
	replica.happens(2)
	died.Close()
	want := []string{"q:1 stops", "q:2 stops"}
	if got := first.next(t, 2); !slices.Equal(got, want) {
		t.Errorf("of a new process it is told %q; want %q", got, want)
	}
	for seen, want := range map[string][]string{"": want, "p:12": want, "q:1": want[1:]} {
		if got := follow(t, front, seen).next(t, len(want)); !slices.Equal(got, want) {
			t.Errorf("of a new process, after %q, it is told %q; want %q", seen, got, want)
		}
	}
}
