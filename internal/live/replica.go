package live

import (
	"context"
	"sync"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/service"
	"lockstep/internal/witness"
)

const (
	readInterval   = 100 * time.Millisecond // in which the streams of replicas are read
	peerRetryPause = time.Second            // until a replica that did not answer is asked again
)

// Replica is a shop as one of its replicas knows it: by its own recorder, and by the streams of the others.
type Replica struct {
	Name     string
	Recorder *witness.Recorder
	Shop     *service.Shop
	Peers    []string // addresses of the other replicas
}

// Follow implements Shop.
func (r *Replica) Follow(ctx context.Context, see func(...witness.Event)) {
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() {
		r.Recorder.Watch(ctx, readInterval/2, func(events ...witness.Event) error {
			see(events...)
			return nil
		})
	})
	for _, peer := range r.Peers {
		following.Go(func() {
			url := func() string { return "http://" + peer + StreamPath }
			witness.KeepFollowing(ctx, url, peerRetryPause, witness.DecodeEvents(func(_ string, event witness.Event) { see(event) }))
		})
	}
}

// StreamPath is the path of a replica's events, in the pace in which a hub reads them.
const StreamPath = "/events?pace_ms=100"

// Look implements Shop.
func (r *Replica) RunState(ctx context.Context) (RunState, error) {
	tally, err := r.Shop.Tally(ctx)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RecheckTimeout)
		defer cancel()
		if _, failed := r.Shop.Ledger.Look(ctx); failed == nil {
			err = ErrRunDue
		}
		return RunState{}, err
	}
	look := RunState{Report: tally.Report(), Settings: api.SettingsOf(r.Shop.SettingsOf(tally.Run))}
	if len(r.Peers) == 0 {
		look.Replicas = []string{r.Name}
	}
	return look, nil
}
