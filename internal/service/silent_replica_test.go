package service

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// dyingReplicas is a ledger in which the other replicas are silent, until they count as dead.
type dyingReplicas struct {
	*fakeLedger
	since time.Time
}

func (d dyingReplicas) ReadState(ctx context.Context) (State, error) {
	if time.Since(d.since) > ReplicaLifetime {
		d.set(func(s *State) { s.Others = nil })
	}
	return d.fakeLedger.ReadState(ctx)
}

// A start that waits for silent replicas logs their names once.
func TestStartLogsSilentReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ledger := &fakeLedger{events: &[]string{}, state: State{Others: map[string]Replica{
			"uuid-1": {Name: "r2", LastBeat: time.Now()}, "uuid-2": {Name: "r1", LastBeat: time.Now()},
			"of an older version": {LastBeat: time.Now()},
		}}}
		shop := &Shop{
			Stock: endlessStock{}, Ledger: dyingReplicas{ledger, time.Now()}, Barrier: barrierLocker{ledger: ledger}, Clock: lock.SystemClock{},
			Log: slog.New(slog.NewTextHandler(&log, nil)), NewID: func() string { return "next" },
		}
		shop.prepare(history.Settings{})
		if alone, err := shop.checkAlone(t.Context()); !alone || err != nil {
			t.Errorf("checkAlone: %v, %v; want true", alone, err)
		}
		if want := `replicas="[of an older version r1 r2]" lifetime=5s`; strings.Count(log.String(), want) != 1 {
			t.Errorf("log %q; want %s once", log.String(), want)
		}
	})
}
