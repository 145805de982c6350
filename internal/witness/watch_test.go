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

// counted is a reply that counts how often it is described.
type counted struct{ describe func() }

func (c counted) String() string { c.describe(); return "OK" }

// What a watcher is told is described a little at a time, and not while sales wait for the recorder. A watcher that is slow holds nothing:
// what is forgotten before it comes back for it is a gap.
func TestAWatcherIsToldALittleAtATime(t *testing.T) {
	const all, few = 20_000, 100
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	ctx := recorder.Follow(t.Context(), "run", lock.Owner("one"))
	watching, described := false, 0
	reply := counted{func() {
		if described++; watching {
			recorder.Note(witness.KindStops) // it would wait for ever
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
				t.Fatalf("at first, %d are told, and %d described", len(events), described)
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
		t.Errorf("%d gaps, and then all up to %d in %d times; want 2, and %d or more", gaps, last, times, 2*all)
	}
}

// A watcher that leaves is told of nothing more, however much there is.
func TestAWatcherLeavesMidway(t *testing.T) {
	recorder := witness.NewRecorder("r1", "a-process", time.Now)
	sale := recorder.Follow(t.Context(), "run", lock.Owner("one"))
	for range 1000 {
		recorder.Observe(sale, service.Seen{Moment: service.Asks})
	}
	ctx, leave := context.WithCancel(t.Context())
	times := 0
	recorder.Watch(ctx, 0, func(...witness.Event) error { times++; leave(); return nil })
	if times != 1 {
		t.Errorf("it is told %d times", times)
	}
}
