package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"lockstep/internal/watch/live"
	"lockstep/internal/watch/witness"
)

// Watched is the cluster as a live.Shop: by the streams of all its replicas, and by the answers of one.
type Watched struct{ Front *Front }

// Follow implements live.Shop.
func (c Watched) Follow(ctx context.Context, see func(...witness.Event)) {
	var following sync.WaitGroup
	defer following.Wait()
	for _, replica := range c.Front.Cluster.replicas {
		following.Go(func() {
			c.Front.follow(ctx, replica, live.StreamPath, "", func(_ string, event witness.Event) { see(event) })
		})
	}
}

// Look implements live.Shop.
func (c Watched) Look(ctx context.Context) (live.Look, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var look live.Look
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
	if err := get(ctx, address, "/settings", &look.Settings); err != nil {
		return look, err
	}
	return look, get(ctx, address, "/inventory", &look.Report)
}

// get asks what a replica says.
func get(ctx context.Context, address, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
