package cluster

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"lockstep/internal/api/sse"
	"lockstep/internal/witness"
)

// relay follows the event streams of the replicas while a front has watchers.
type relay struct {
	mu        sync.Mutex
	watchers  int                 // number of open event streams
	recorders []*witness.Recorder // one for each replica; repeats its stream to the watchers
	end       func()              // stops following the replicas, and waits for that
}

// gatherTime is how long events are collected before they are written together: written one by one, they would take too much processor time
// from the buyers.
const gatherTime = 20 * time.Millisecond

// ServeEvents streams what the locks of all replicas do. The id of an event lists the last event id sent of each replica, separated by
// commas, so that a client that reconnects gets what it missed.
func (f *Front) ServeEvents(w http.ResponseWriter, r *http.Request) error {
	recorders, unwatch := f.watchReplicas()
	defer unwatch()
	ctx, end := context.WithCancel(r.Context())
	var writing sync.WaitGroup
	defer writing.Wait()
	defer end()
	stream := sse.NewWriter(w)
	lastID := r.Header.Get(sse.LastEventID)
	last := strings.Split(lastID, ",")
	if len(last) != len(recorders) { // The id is from another stream, such as that of a single server.
		last = make([]string, len(recorders))
	}
	var mu sync.Mutex // guards last and stream
	for i, recorder := range recorders {
		writing.Go(func() {
			defer end() // If the watcher cannot be written to, it has disconnected.
			recorder.Stream(ctx, lastID, gatherTime, func(events ...sse.Event) error {
				mu.Lock()
				defer mu.Unlock()
				for _, event := range events {
					last[i] = event.ID
					event.ID = strings.Join(last, ",")
					if err := stream.Write(event); err != nil {
						return err
					}
				}
				return stream.Flush()
			})
		})
	}
	select {
	case <-f.Ending:
	case <-ctx.Done():
	}
	return nil
}

// watchReplicas adds a watcher. It returns a recorder for each replica, which repeats its events, and a function that removes the watcher.
// Each replica is followed once, however many watchers there are, and not at all if there are none.
func (f *Front) watchReplicas() (recorders []*witness.Recorder, unwatch func()) {
	r := &f.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watchers++; r.watchers == 1 {
		var fresh []*witness.Recorder
		for _, replica := range f.Cluster.replicas {
			fresh = append(fresh, witness.NewRecorder(replica.Name, "", time.Now))
		}
		ctx, stop := context.WithCancel(context.Background())
		var following sync.WaitGroup
		following.Go(func() { f.follow(ctx, "/events", func(i int) func(sse.Event) error { return fresh[i].Relay }) })
		r.recorders, r.end = fresh, func() { stop(); following.Wait() }
	}
	return r.recorders, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.watchers--; r.watchers == 0 {
			r.end()
			r.recorders = nil
		}
	}
}

// follow follows the events of all replicas until ctx ends, also those of restarted processes. handler returns the function that takes the
// events of the replica with an index.
func (f *Front) follow(ctx context.Context, path string, handler func(replica int) func(sse.Event) error) {
	var following sync.WaitGroup
	defer following.Wait()
	for i, replica := range f.Cluster.replicas {
		url := func() string {
			if address, _, _ := replica.endpoint(); address != "" {
				return "http://" + address + path
			}
			return ""
		}
		following.Go(func() { witness.KeepFollowing(ctx, url, f.Patience.orDefault().Ask, handler(i)) })
	}
}
