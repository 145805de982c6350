package dao_test

import (
	"errors"
	"fmt"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redisserver"
)

// The store refuses a token smaller than the largest that a read or a write has shown it. It accepts a write without a token.
func TestStoreRefusesSmallerTokenThanSeen(t *testing.T) {
	r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{redisserver.Start(t).Addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	store := dao.NewStore(r.Store, "test", 100)
	order := history.Order{ID: "x", RunID: "run", Fence: 1}
	if _, err := store.Read(t.Context(), order); !errors.Is(err, service.ErrRunOver) {
		t.Errorf("Read of no run: %v; want ErrRunOver", err)
	}
	if err := store.Start(t.Context(), history.Run{}, history.Run{ID: "run", Initial: 10}); err != nil {
		t.Fatal(err)
	}
	write := func(fence, after int64) error {
		order.ID, order.Fence, order.After = fmt.Sprint(fence, after), fence, after
		_, err := store.Write(t.Context(), order)
		return err
	}
	read := func(fence int64) error {
		order.Fence = fence
		_, err := store.Read(t.Context(), order)
		return err
	}
	for i, step := range []struct {
		act  func() error
		lost bool
	}{
		{act: func() error { return write(3, 9) }},
		{act: func() error { return write(3, 8) }}, // a nested call
		{act: func() error { return write(2, 1) }, lost: true},
		{act: func() error { return read(2) }, lost: true},
		{act: func() error { return read(5) }},
		{act: func() error { return write(4, 1) }, lost: true}, // 5 has read what 4 would write over
		{act: func() error { return write(0, 7) }},
		{act: func() error { return write(5, 6) }},
	} {
		if err := step.act(); errors.Is(err, lock.ErrLost) != step.lost || err != nil && !step.lost {
			t.Errorf("step %d: %v; want it refused: %v", i+1, err, step.lost)
		}
	}
	if stock, err := store.Read(t.Context(), order); stock != 6 || err != nil {
		t.Errorf("the stock is %d, %v; want 6", stock, err)
	}
	if sold := r.Store.HGet(t.Context(), dao.RunKey, "sold").Val(); sold != "4" {
		t.Errorf("%s sold; want 4", sold)
	}
}

// A sale of a run that has ended writes nothing, and its token does not count in the current run.
func TestSaleOfEndedRunWritesNothing(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store := dao.NewStore(r.Store, "test", 100)
		start := func(last, next string) error {
			return store.Start(t.Context(), history.Run{ID: last}, history.Run{ID: next, Initial: 10})
		}
		for _, end := range []struct {
			name string
			end  func() error
		}{
			{name: "a new run", end: func() error { return start("first", "second") }},
			{name: "a Redis that has forgotten", end: func() error { return r.Store.FlushAll(t.Context()).Err() }},
			{name: "a Redis that has forgotten, and a new run", end: func() error {
				return errors.Join(r.Store.FlushAll(t.Context()).Err(), start("", "second"))
			}},
		} {
			t.Run(end.name, func(t *testing.T) {
				if err := errors.Join(r.Store.FlushAll(t.Context()).Err(), start("", "first"), end.end()); err != nil {
					t.Fatal(err)
				}
				before := r.Store.Keys(t.Context(), "*").Val()
				for _, fence := range []int64{0, 500} {
					order := history.Order{ID: "late", RunID: "first", Fence: fence, Before: 7, After: 6}
					_, takeErr := store.Take(t.Context(), order)
					_, writeErr := store.Write(t.Context(), order)
					watchErr := store.Watch(t.Context(), func(stock service.Stock) error { _, err := stock.Write(t.Context(), order); return err })
					for operation, err := range map[string]error{"Write": writeErr, "Take": takeErr, "watched Write": watchErr} {
						if !errors.Is(err, service.ErrRunOver) {
							t.Errorf("%s with token %d: %v; want ErrRunOver", operation, fence, err)
						}
					}
					if fence == 0 {
						continue
					}
					if _, err := store.Read(t.Context(), order); !errors.Is(err, service.ErrRunOver) {
						t.Errorf("Read with token %d: %v; want ErrRunOver", fence, err)
					}
				}
				if after := r.Store.Keys(t.Context(), "*").Val(); len(after) != len(before) {
					t.Errorf("late sales have left %v of %v", after, before)
				}
				switch stock := r.Store.Get(t.Context(), dao.InventoryKey).Val(); stock {
				case "": // there is no run
					return
				case "10":
				default:
					t.Errorf("a late sale has written %s", stock)
				}
				if stock, err := store.Read(t.Context(), history.Order{RunID: "second", Fence: 1}); stock != 10 || err != nil {
					t.Errorf("the first sale of the next run reads %d, %v; want 10", stock, err)
				}
			})
		}
		if err := start("first", "third"); !errors.Is(err, service.ErrRunOver) {
			t.Errorf("a run begun over one that was not seen: %v; want ErrRunOver", err)
		}
	})
}
