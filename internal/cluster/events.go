package cluster

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"lockstep/internal/shop/sse"
	"lockstep/internal/watch/witness"
)

// noted is an event of a replica, with its id.
type noted struct {
	replica int // index
	id      string
	event   witness.Event
}

// mostUnsent is how many events wait to be written to a watcher.
const mostUnsent = 64

// ServeEvents streams what the locks of all replicas do. The id of an event says of each replica what has been sent of it.
func (f *Front) ServeEvents(w http.ResponseWriter, r *http.Request) error {
	ctx, leave := context.WithCancel(r.Context())
	all := make(chan noted, mostUnsent)
	var following sync.WaitGroup
	defer following.Wait()
	defer leave()
	seen := r.Header.Get(sse.LastEventID)
	following.Go(func() {
		f.follow(ctx, "/events", seen, func(n noted) {
			select {
			case all <- n:
			case <-ctx.Done():
			}
		})
	})
	stream := sse.NewWriter(w)
	last := strings.Split(seen, ",")
	if len(last) != len(f.Cluster.replicas) { // it is not of this stream
		last = make([]string, len(f.Cluster.replicas))
	}
	for err := stream.Flush(); err == nil; {
		select {
		case n := <-all:
			last[n.replica] = n.id
			err = witness.WriteEvent(stream, strings.Join(last, ","), n.event)
			if err == nil && len(all) == 0 {
				err = stream.Flush()
			}
		case <-f.Ending:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// follow follows the events of all replicas until ctx ends, also in the processes that are started when others have died. seen is what is
// asked for as the last event seen.
func (f *Front) follow(ctx context.Context, path, seen string, see func(noted)) {
	var following sync.WaitGroup
	defer following.Wait()
	for i, replica := range f.Cluster.replicas {
		url := func() string {
			if address, _, _ := replica.reach(); address != "" {
				return "http://" + address + path
			}
			return ""
		}
		following.Go(func() {
			witness.KeepFollowing(ctx, url, seen, f.Patience.orDefault().Ask, func(id string, event witness.Event) { see(noted{i, id, event}) })
		})
	}
}
