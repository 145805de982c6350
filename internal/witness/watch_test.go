package witness_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/witness"
)

// countingReply is a reply that counts how often it is described.
type countingReply struct{ describe func() }

func (c countingReply) String() string { c.describe(); return "OK" }

// Events are described in small batches, and not while sales wait for the recorder. A slow watcher holds nothing up: what was dropped
// before it returns is a gap.
func TestWatchDescribesEventsInBatches(t *testing.T) {
	const all, few = 20_000, 100
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(t.Context(), "run", lock.Owner("one"))
	watching, described := false, 0
	reply := countingReply{func() {
		if described++; watching {
			recorder.Note(witness.KindStops) // deadlocks if the recorder is locked meanwhile
		}
	}}
	sell := func() {
		for range all {
			cmd := redis.NewCmd(ctx, "del", lock.Key)
			_ = recorder.Hook().ProcessHook(func(context.Context, redis.Cmder) error { cmd.SetVal(reply); return nil })(ctx, cmd)
		}
	}
	sell()
	watching, described = true, 0
	times, gaps, last := 0, 0, uint64(0)
	recorder.Watch(t.Context(), time.Hour, func(events ...witness.Event) error {
		if times++; times == 1 {
			if len(events) == 0 || len(events) > few || described > few {
				t.Fatalf("first batch: got %d events, %d described; want 1 to %d", len(events), described, few)
			}
			watching = false
			sell()
			recorder.Close()
		}
		for _, event := range events {
			if event.Kind == witness.KindGap {
				gaps++
			}
			last = event.ID
		}
		return nil
	})
	if gaps != 2 || last < 2*all || times < all/2/few {
		t.Errorf("got %d gaps, and events up to %d in %d batches; want 2 gaps, and events up to %d or more", gaps, last, times, 2*all)
	}
}

// A watcher that leaves gets no more events, however many there are.
func TestWatchStopsWhenContextEnds(t *testing.T) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	sale := recorder.Follow(t.Context(), "run", lock.Owner("one"))
	for range 1000 {
		recorder.Observe(sale, service.SaleEvent{Moment: service.Asks})
	}
	ctx, leave := context.WithCancel(t.Context())
	times := 0
	recorder.Watch(ctx, 0, func(...witness.Event) error { times++; leave(); return nil })
	if times != 1 {
		t.Errorf("got %d batches, want 1", times)
	}
}
