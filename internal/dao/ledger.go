package dao

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

const (
	// readyTTL is how long what a probe wrote stays.
	readyTTL = time.Second
	// keepSeconds is how long at least an order can be looked up; keepRuns is the number of earlier runs whose orders are kept.
	keepOrdersSeconds = 24 * 60 * 60
	keepRuns          = 100
)

// Tally counts a run as it is at one moment, but for the sales in flight in this replica.
func (s *Store) Tally(ctx context.Context) (history.Tally, error) {
	reply, err := s.sendBeat(ctx, nil, "")
	if err != nil {
		return history.Tally{}, err
	}
	tally := history.Tally{Run: reply.Run}
	if tally.Remaining, err = parseStockReply(ctx, InventoryKey, reply.stock); err != nil {
		if errors.Is(err, service.ErrRunOver) {
			err = service.ErrForgotten
		}
		return tally, err
	}
	if reply.Run.ID == "" || reply.stock[0] != reply.fields["written"] {
		return tally, service.ErrRunChanged
	}
	for name, count := range map[string]*int64{"sold": &tally.Sold, "max_in_flight": &tally.MaxInFlight} {
		if *count, err = parseCount(name, reply.fields[name]); err != nil {
			return history.Tally{}, err
		}
	}
	for _, other := range reply.Others {
		tally.InFlight += int64(other.Admitted)
		if other.Run == reply.Run.ID {
			tally.MaxInFlight = max(tally.MaxInFlight, other.Overlap)
		}
	}
	return tally, nil
}

// Start begins a run and writes its stock in one script. The orders of earlier runs stay for some time.
func (s *Store) Start(ctx context.Context, last, next history.Run) error {
	settings, _ := json.Marshal(next.Settings) // numbers and a name do not fail
	tuning, _ := json.Marshal(next.Tuning)
	keys := append([]string{InventoryKey, RunKey, pastRunsKey, fenceKey}, segmentStockKeys(max(last.Segments, next.Segments))...)
	started, err := s.eval(ctx, lua.StartRun, last.ID, keys,
		last.ID, next.ID, next.Lock, next.Initial, settings,
		ordersPrefix, keepOrdersSeconds, s.maxOrders, keepRuns, tuning, next.Forgot, next.Segments)
	if err == nil && started == int64(0) {
		err = fmt.Errorf("%w: another one began first", service.ErrRunOver)
	}
	return err
}

// Probe tries whether a sale could write now, by a key of its own, which expires.
func (s *Store) Probe(ctx context.Context) error {
	return rediserr.Classify(ctx, "SET "+readyKey, s.client.Set(ctx, readyKey, s.instance, readyTTL).Err())
}

// Quit takes this replica out of the living.
func (s *Store) Quit(ctx context.Context) error {
	return rediserr.Classify(ctx, "HDEL replicas", s.client.HDel(ctx, replicasKey, s.instance).Err())
}

// parseRun reads the fields of the run's hash. Without an id there is no run: a sale that went on while the keys were
// deleted leaves a hash without one.
func parseRun(fields map[string]string) (history.Run, error) {
	if fields["id"] == "" {
		return history.Run{}, nil
	}
	initial, err := parseCount("initial", fields["initial"])
	if err != nil {
		return history.Run{}, err
	}
	run := history.Run{ID: fields["id"], Lock: fields["lock"], Initial: initial, Forgot: fields["forgot"] == "1"}
	if text := fields["segments"]; text != "" { // a release that knew none wrote none
		segments, err := parseCount("segments", text)
		if err != nil {
			return history.Run{}, err
		}
		run.Segments = int(segments)
	}
	if text := fields["tuning"]; text != "" {
		if err := json.Unmarshal([]byte(text), &run.Tuning); err != nil {
			return history.Run{}, badKeyError(RunKey, fmt.Sprintf("the field tuning of the key %s: %s", RunKey, err))
		}
	}
	_ = json.Unmarshal([]byte(fields["settings"]), &run.Settings) // what cannot be read is what no replica has
	return run, nil
}
