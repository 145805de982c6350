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

// Watched is the cluster as a live.Shop: by the streams of all its replicas, and by the answers of one.
type Watched struct{ Front *Front }

// Follow implements live.Shop.
func (c Watched) Follow(ctx context.Context, see func(...witness.Event)) {
	decoded := witness.DecodeEvents(func(_ string, event witness.Event) { see(event) })
	c.Front.follow(ctx, live.StreamPath, func(int) func(sse.Event) error { return decoded })
}

// RunState implements live.Shop.
func (c Watched) RunState(ctx context.Context) (live.RunState, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var look live.RunState
	address := ""
	for _, replica := range c.Front.Cluster.replicas {
		look.Replicas = append(look.Replicas, replica.Name)
		if at, hangs, _ := replica.reach(); address == "" && !hangs { // it does not take the turn of a sale
			address = at
		}
	}
	if address == "" {
		return look, errNoReplica
	}
	if err := get(ctx, http.DefaultClient, address, "/settings", &look.Settings); err != nil {
		return look, err
	}
	err := get(ctx, http.DefaultClient, address, "/inventory", &look.Report)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), live.RecheckTimeout)
		defer cancel()
		var ready any
		if get(ctx, http.DefaultClient, address, "/readyz", &ready) == nil {
			err = live.ErrRunDue
		}
	}
	return look, err
}

// mostSaid is how much a replica may say, in bytes: another program may have its port.
const mostSaid = 1 << 20

// get asks what a replica says. With nothing to put it into, any answer is right.
func get(ctx context.Context, client *http.Client, address, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		return err
	}
	request.Close = into != nil // what is not asked all the time; a replica that ends waits some time for a request on each connection
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if into == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(response.Body, mostSaid))
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return json.NewDecoder(io.LimitReader(response.Body, mostSaid)).Decode(into)
}
