package cluster

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"lockstep/internal/watch/witness"
)

// noted is an event of a replica, with its id.
type noted struct {
	replica int // index
	id      string
	event   witness.Event
}

// events streams what the locks of all replicas do. The id of an event says of each replica what has been sent of it.
func (f *Front) events(w http.ResponseWriter, r *http.Request) {
	ctx, leave := context.WithCancel(r.Context())
	all := make(chan noted)
	var following sync.WaitGroup
	defer following.Wait()
	defer leave()
	seen := r.Header.Get(witness.LastEventID)
	for i, replica := range f.Cluster.replicas {
		following.Go(func() {
			f.follow(ctx, replica, "/events", seen, func(id string, event witness.Event) {
				select {
				case all <- noted{i, id, event}:
				case <-ctx.Done():
				}
			})
		})
	}
	witness.BeginStream(w)
	control := http.NewResponseController(w)
	last := strings.Split(seen, ",")
	if len(last) != len(f.Cluster.replicas) { // it is not of this stream
		last = make([]string, len(f.Cluster.replicas))
	}
	for control.Flush() == nil {
		select {
		case n := <-all:
			last[n.replica] = n.id
			if witness.WriteEvent(w, strings.Join(last, ","), n.event) != nil {
				return
			}
		case <-f.Ending:
			return
		case <-ctx.Done():
			return
		}
	}
}

// follow follows a replica's events until ctx ends, also in the process that is started when this one has died.
func (f *Front) follow(ctx context.Context, replica *Replica, path, seen string, see func(string, witness.Event)) {
	url := func() string {
		if address, _, _ := replica.reach(); address != "" {
			return "http://" + address + path
		}
		return ""
	}
	witness.KeepFollowing(ctx, url, seen, f.Patience.orDefault().Ask, see)
}
