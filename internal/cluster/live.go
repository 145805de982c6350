package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"lockstep/internal/api/sse"
	"lockstep/internal/live"
	"lockstep/internal/witness"
)

// LiveShop adapts a Front to live.Shop: it merges the event streams of all replicas, and asks one of them for the state of the run.
type LiveShop struct{ Front *Front }

// Follow implements live.Shop.
func (c LiveShop) Follow(ctx context.Context, onEvents func(...witness.Event)) {
	decoded := witness.DecodeEvents(func(_ string, event witness.Event) { onEvents(event) })
	c.Front.follow(ctx, live.StreamPath, func(int) func(sse.Event) error { return decoded })
}

// RunState implements live.Shop.
func (c LiveShop) RunState(ctx context.Context) (live.RunState, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var state live.RunState
	address := ""
	for _, replica := range c.Front.Cluster.replicas {
		state.Replicas = append(state.Replicas, replica.Name)
		// Not by Front.choose: this request must not change whose turn the next sale is.
		if addr, hangs, _ := replica.endpoint(); address == "" && !hangs {
			address = addr
		}
	}
	if address == "" {
		return state, errNoReplica
	}
	if err := get(ctx, http.DefaultClient, address, "/settings", &state.Settings); err != nil {
		return state, err
	}
	err := get(ctx, http.DefaultClient, address, "/inventory", &state.Report)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), live.RecheckTimeout)
		defer cancel()
		var ready any
		if get(ctx, http.DefaultClient, address, "/readyz", &ready) == nil {
			err = live.ErrRunDue
		}
	}
	return state, err
}

// maxAnswerBytes limits an answer of a replica, in bytes: another program may listen on its port by now.
const maxAnswerBytes = 1 << 20

// get sends a GET request to a replica and decodes its JSON answer into into. If into is nil, any answer is a success.
func get(ctx context.Context, client *http.Client, address, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		return err
	}
	// A replica that shuts down waits some time for a request on each idle connection, so only frequent requests keep theirs.
	request.Close = into != nil
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if into == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswerBytes))
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return json.NewDecoder(io.LimitReader(response.Body, maxAnswerBytes)).Decode(into)
}
