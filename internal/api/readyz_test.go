package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/api/route"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// fakeRedis has the results of reading the run, of the test write, and of taking the lock.
type fakeRedis struct{ run, probe, taken func(context.Context) error }

// fakeLedger is the ledger of a fakeRedis.
type fakeLedger struct {
	service.Ledger
	fakeRedis
}

func (l fakeLedger) Probe(ctx context.Context) error { return l.probe(ctx) }

// ReadState implements service.Ledger. Another replica is alive, so that its run is joined.
func (l fakeLedger) ReadState(ctx context.Context) (service.State, error) {
	run := history.Run{ID: "run", Lock: "redlock"}
	return service.State{Run: run, Others: map[string]service.Replica{"other": {LastBeat: time.Now()}}}, l.run(ctx)
}

func (fakeLedger) Beat(context.Context, service.Replica) (service.State, error) {
	return service.State{}, nil
}
func (fakeLedger) RequestHeartbeats(context.Context) error { return nil }

// fakeLocker is the lock of a fakeRedis.
type fakeLocker struct {
	lock.Locker
	fakeRedis
}

func (l fakeLocker) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error { return nil }), l.taken(ctx)
}

// The server is ready if the stock and the lock can be written. It tries both, for a second at most.
func TestReadyzTriesStockAndLock(t *testing.T) {
	well := func(context.Context) error { return nil }
	refused := func(context.Context) error {
		return fmt.Errorf("SET: %w: %w", lock.ErrUnavailable, errors.New("NOREPLICAS Not enough good replicas to write"))
	}
	hung := func(ctx context.Context) error { // as rediserr.Classify returns it
		<-ctx.Done()
		return fmt.Errorf("SET: %w: %w", lock.ErrCancelled, context.Cause(ctx))
	}
	for name, c := range map[string]struct {
		fakeRedis fakeRedis
		status    int
		says      string
		after     time.Duration
	}{
		"well":               {fakeRedis{run: well, probe: well, taken: well}, 200, "", 0},
		"no run to be read":  {fakeRedis{run: refused, probe: well, taken: well}, 503, "NOREPLICAS Not enough", 0},
		"nothing is written": {fakeRedis{run: well, probe: refused, taken: well}, 503, "NOREPLICAS Not enough", 0},
		"no lock is taken":   {fakeRedis{run: well, probe: well, taken: refused}, 503, "NOREPLICAS Not enough", 0},
		"Redis hangs":        {fakeRedis{run: well, probe: hung, taken: well}, 503, "it has not answered within 1s", readyTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := redisclient.Single(redisclient.Config{})
				defer client.Close()
				client.AddHook(redisclient.Around(func(context.Context, []redis.Cmder, func(context.Context) error) error { return nil }))
				shop := &service.Shop{
					Parts:  strategy.Parts{Client: client},
					Ledger: fakeLedger{fakeRedis: fakeRedis{run: well}}, Clock: lock.SystemClock{},
					Strategies: map[string]strategy.Strategy{
						"redlock": {OnNodes: true, New: func(strategy.Parts) lock.Locker { return fakeLocker{fakeRedis: c.fakeRedis} }},
					},
				}
				if err := shop.Open(t.Context(), history.Settings{Lock: "redlock"}); err != nil {
					t.Fatal(err)
				}
				shop.Ledger = fakeLedger{fakeRedis: c.fakeRedis}
				a := API{Shop: shop, Log: slog.New(slog.DiscardHandler), Metrics: noMetrics{}}
				since, response := time.Now(), httptest.NewRecorder()
				route.Mux(a.Routes()...).ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
				var said ErrorAnswer
				if err := json.Unmarshal(response.Body.Bytes(), &said); err != nil {
					t.Fatal(err)
				}
				wantCode := map[int]string{503: "redis_unavailable"}[c.status]
				if response.Code != c.status || said.Error.Code != wantCode || !strings.Contains(said.Error.Message, c.says) {
					t.Errorf("%d %s; want %d, %q", response.Code, response.Body, c.status, c.says)
				}
				if took := time.Since(since); took != c.after {
					t.Errorf("it took %v; want %v", took, c.after)
				}
			})
		})
	}
}
