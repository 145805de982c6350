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
	readInterval   = 100 * time.Millisecond // interval at which the streams of replicas are read: as frameInterval
	peerRetryPause = time.Second            // pause before another request to a replica that did not answer
)

// Replica is the Shop of a single replica: it reads its own recorder, and the streams of its peers.
type Replica struct {
	Name     string            // name of the replica
	Recorder *witness.Recorder // recorder of the replica's own events
	Shop     *service.Shop     // source of the run's state
	Peers    []string          // addresses of the other replicas
}

// Follow implements Shop.
func (r *Replica) Follow(ctx context.Context, onEvents func(...witness.Event)) {
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() {
		r.Recorder.Watch(ctx, readInterval/2, func(events ...witness.Event) error {
			onEvents(events...)
			return nil
		})
	})
	for _, peer := range r.Peers {
		following.Go(func() {
			url := func() string { return "http://" + peer + StreamPath }
			witness.KeepFollowing(ctx, url, peerRetryPause, witness.DecodeEvents(func(_ string, event witness.Event) { onEvents(event) }))
		})
	}
}

// StreamPath is the path of a replica's event stream, with readInterval in milliseconds.
const StreamPath = "/events?pace_ms=100"

// RunState implements Shop.
func (r *Replica) RunState(ctx context.Context) (RunState, error) {
	tally, err := r.Shop.Tally(ctx)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RecheckTimeout)
		defer cancel()
		if _, ledgerErr := r.Shop.Ledger.ReadState(ctx); ledgerErr == nil {
			err = ErrRunDue
		}
		return RunState{}, err
	}
	state := RunState{Report: tally.Report(), Settings: api.SettingsOf(r.Shop.SettingsOf(tally.Run))}
	if len(r.Peers) == 0 {
		state.Replicas = []string{r.Name}
	}
	return state, nil
}
