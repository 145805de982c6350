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

// relay is what a front has of the streams of its replicas while somebody watches it.
type relay struct {
	mu        sync.Mutex
	watchers  int
	recorders []*witness.Recorder // each repeats the stream of a replica
	end       func()              // ends the following
}

// gather is how long events wait for others to be written with them: one by one, they would keep buyers from the processor.
const gather = 20 * time.Millisecond

// ServeEvents streams what the locks of all replicas do. The id of an event says of each replica what has been sent of it.
func (f *Front) ServeEvents(w http.ResponseWriter, r *http.Request) error {
	recorders, leave := f.join()
	defer leave()
	ctx, end := context.WithCancel(r.Context())
	var writing sync.WaitGroup
	defer writing.Wait()
	defer end()
	stream := sse.NewWriter(w)
	seen := r.Header.Get(sse.LastEventID)
	last := strings.Split(seen, ",")
	if len(last) != len(recorders) { // it is not of this stream
		last = make([]string, len(recorders))
	}
	var mu sync.Mutex // held while the events of a replica are written
	for i, recorder := range recorders {
		writing.Go(func() {
			defer end() // a watcher that cannot be written to has left
			recorder.Stream(ctx, seen, gather, func(events ...sse.Event) error {
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

// join begins to watch: it gives what repeats the stream of each replica, and the function that ends it. However many watch, each replica
// is followed once, and not at all while nobody does.
func (f *Front) join() (recorders []*witness.Recorder, leave func()) {
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

// follow follows the events of all replicas until ctx ends, also in the processes that are started when others have died. see gives what
// takes those of a replica, by its index.
func (f *Front) follow(ctx context.Context, path string, see func(replica int) func(sse.Event) error) {
	var following sync.WaitGroup
	defer following.Wait()
	for i, replica := range f.Cluster.replicas {
		url := func() string {
			if address, _, _ := replica.reach(); address != "" {
				return "http://" + address + path
			}
			return ""
		}
		following.Go(func() { witness.KeepFollowing(ctx, url, f.Patience.orDefault().Ask, see(i)) })
	}
}
