package dao_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

// A run divides its stock into segments, and its sales keep their sum. The next run starts afresh, with other segments or with none.
func TestSegmentsAreReadAndWritten(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store, ctx := dao.NewStore(r.Store, "test", 100), t.Context()
		state := func() string {
			var all []string
			for i := range 4 {
				key, fence := dao.SegmentKeys(i + 1)
				all = append(all, r.Store.Get(ctx, key).Val()+"/"+r.Store.Get(ctx, fence).Val())
			}
			return r.Store.Get(ctx, dao.InventoryKey).Val() + " " + strings.Join(all, " ")
		}
		var last history.Run
		begin := func(stock int64, segments int, want string) {
			t.Helper()
			next := history.Run{ID: fmt.Sprint(stock, segments), Initial: stock, Segments: segments}
			if err := store.Start(ctx, last, next); err != nil || state() != want {
				t.Errorf("%d in %d segments: %q, %v; want %q", stock, segments, state(), err, want)
			}
			last = next
		}
		sell := func(segment int, token, before int64) error {
			order := history.Order{ID: fmt.Sprint(segment, token), RunID: last.ID, Segment: segment, SegmentCount: last.Segments, Fence: token}
			read, err := store.Read(ctx, order)
			if err != nil {
				return err
			}
			if read != before {
				t.Errorf("segment %d holds %d; want %d", segment, read, before)
			}
			order.Before, order.After = read, read-1
			_, err = store.Write(ctx, order)
			return err
		}
		begin(2, 3, "2 1/ 1/ 0/ /")
		begin(10, 3, "10 4/ 3/ 3/ /")
		if err := errors.Join(sell(1, 7, 4), sell(3, 2, 3), sell(3, 3, 2)); err != nil || state() != "7 3/7 3/ 1/3 /" {
			t.Errorf("after three sales: %q, %v", state(), err)
		}
		if err := sell(1, 6, 3); !errors.Is(err, lock.ErrLost) { // though 6 is larger than what segment 3 has seen
			t.Errorf("a token smaller than the largest of its segment: %v; want ErrLost", err)
		}
		if tally, err := store.Tally(ctx); err != nil || tally.Remaining != 7 || tally.Sold != 3 || tally.Lost() != 0 || tally.Segments != 3 {
			t.Errorf("%+v, %v", tally, err)
		}
		begin(5, 2, "5 3/ 2/ / /")
		begin(5, 4, "5 2/ 1/ 1/ 1/")
		begin(9, 0, "9 / / / /")
	})
}

// The error for a segment that is missing, or is no number, names it, both in a sale from the segment and in one that needs the sum.
func TestInvalidSegmentIsBadStock(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store, ctx := dao.NewStore(r.Store, "test", 100), t.Context()
		run := history.Run{ID: "run", Initial: 10, Segments: 2}
		if err := store.Start(ctx, history.Run{}, run); err != nil {
			t.Fatal(err)
		}
		first, _ := dao.SegmentKeys(1)
		for want, spoil := range map[string]func() error{
			"is gone":      func() error { return r.Store.Del(ctx, first).Err() },
			`holds "five"`: func() error { return r.Store.Set(ctx, first, "five", 0).Err() },
		} {
			t.Run(want, func(t *testing.T) {
				if err := spoil(); err != nil {
					t.Fatal(err)
				}
				for segment := range 2 {
					order := history.Order{ID: "one", RunID: "run", Segment: segment + 1, SegmentCount: 2, Fence: 1, After: 4}
					_, err := store.Read(ctx, order)
					if segment == 1 {
						_, err = store.Write(ctx, order)
					}
					isNamed := err != nil && strings.Contains(err.Error(), first+" "+want) && strings.Contains(err.Error(), "PUT /inventory")
					if !errors.Is(err, service.ErrBadStock) || !isNamed {
						t.Errorf("a sale in segment %d: %v", segment+1, err)
					}
				}
			})
		}
	})
}
