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
	// readyTTL is the expiry of the key written by a readiness probe.
	readyTTL = time.Second
	// keepOrdersSeconds is the minimum time for which an order can be looked up: a day.
	keepOrdersSeconds = 24 * 60 * 60
	// keepRuns is the number of earlier runs whose orders are kept.
	keepRuns = 100
)

// Tally counts the current run at one moment. Sales in flight in this replica are not included. It fails with service.ErrForgotten if the
// stock is gone, and with service.ErrRunChanged if the stock is not what the run wrote last.
func (s *Store) Tally(ctx context.Context) (history.Tally, error) {
	reply, err := s.runBeat(ctx, nil, "")
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

// Start ends the run last and begins next, with its stock, in one script. It fails with service.ErrRunOver if last is not the current run.
// The orders of earlier runs stay for some time.
func (s *Store) Start(ctx context.Context, last, next history.Run) error {
	settings, _ := json.Marshal(next.Settings) // Encoding numbers and a name cannot fail.
	tuning, _ := json.Marshal(next.Tuning)
	keys := append([]string{InventoryKey, RunKey, pastRunsKey, fenceKey}, segmentStockKeys(max(last.Segments, next.Segments))...)
	started, err := s.eval(ctx, lua.StartRun, last.ID, keys,
		last.ID, next.ID, next.Lock, next.Initial, settings,
		ordersPrefix, keepOrdersSeconds, s.maxOrders, keepRuns, tuning, next.Forgot, next.Segments)
	if err == nil && started == int64(0) {
		err = fmt.Errorf("%w: another replica began a run first", service.ErrRunOver)
	}
	return err
}

// Probe checks that Redis accepts writes: it sets a key of its own, which expires.
func (s *Store) Probe(ctx context.Context) error {
	return rediserr.Classify(ctx, "SET "+readyKey, s.client.Set(ctx, readyKey, s.instance, readyTTL).Err())
}

// DeleteHeartbeat deletes this replica's heartbeat.
func (s *Store) DeleteHeartbeat(ctx context.Context) error {
	return rediserr.Classify(ctx, "HDEL replicas", s.client.HDel(ctx, replicasKey, s.instance).Err())
}

// parseRun parses the fields of the run's hash. Without an id there is no run: a sale that was in flight while the keys were deleted leaves
// a hash without an id.
func parseRun(fields map[string]string) (history.Run, error) {
	if fields["id"] == "" {
		return history.Run{}, nil
	}
	initial, err := parseCount("initial", fields["initial"])
	if err != nil {
		return history.Run{}, err
	}
	run := history.Run{ID: fields["id"], Lock: fields["lock"], Initial: initial, Forgot: fields["forgot"] == "1"}
	if text := fields["segments"]; text != "" { // Absent in a run that an older release began.
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
	_ = json.Unmarshal([]byte(fields["settings"]), &run.Settings) // Settings that cannot be parsed equal those of no replica.
	return run, nil
}
