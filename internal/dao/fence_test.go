package dao_test

import (
	"errors"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/redistest"
	"lockstep/internal/service"
)

// The store takes any token until it has seen a larger one, read or written.
func TestFence(t *testing.T) {
	r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{redistest.Start(t).Addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	store := dao.NewStore(r.Store, "test")
	if _, err := store.Read(t.Context(), 1); !errors.Is(err, service.ErrBadStock) {
		t.Errorf("Read of no stock: %v; want ErrBadStock", err)
	}
	if err := store.Start(t.Context(), history.Run{ID: "run", Initial: 10}); err != nil {
		t.Fatal(err)
	}
	write := func(fence, after int64) error {
		return store.Write(t.Context(), history.Order{ID: "x", RunID: "run", After: after, Fence: fence})
	}
	for i, step := range []struct {
		act  func() error
		lost bool
	}{
		{func() error { return write(3, 9) }, false},
		{func() error { return write(3, 8) }, false}, // a nested call
		{func() error { return write(2, 1) }, true},
		{func() error { _, err := store.Read(t.Context(), 2); return err }, true},
		{func() error { _, err := store.Read(t.Context(), 5); return err }, false},
		{func() error { return write(4, 1) }, true}, // 5 has read what 4 would write over
		{func() error { return write(0, 7) }, false},
		{func() error { return write(5, 6) }, false},
	} {
		if err := step.act(); errors.Is(err, lock.ErrLost) != step.lost || err != nil && !step.lost {
			t.Errorf("step %d: %v; want it refused: %v", i+1, err, step.lost)
		}
	}
	if stock, err := store.Read(t.Context(), 5); stock != 6 || err != nil {
		t.Errorf("the stock is %d, %v; want 6", stock, err)
	}
	if err := store.Start(t.Context(), history.Run{ID: "next", Initial: 100}); err != nil { // no token has been seen in it
		t.Fatal(err)
	}
	if err := write(6, 5); !errors.Is(err, lock.ErrLost) {
		t.Errorf("a late write of the last run: %v; want ErrLost", err)
	}
	if stock, err := store.Read(t.Context(), 1); stock != 100 || err != nil {
		t.Errorf("the stock is %d, %v; want 100", stock, err)
	}
	if n := r.Store.LLen(t.Context(), dao.OrdersKey("run")).Val(); n != 4 {
		t.Errorf("%d orders; want 4", n)
	}
	if err := r.Store.Del(t.Context(), dao.InventoryKey).Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.Store.HSet(t.Context(), dao.InventoryKey, "a", "b").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Read(t.Context(), 9); !errors.Is(err, service.ErrBadStock) {
		t.Errorf("Read of a hash: %v; want ErrBadStock", err)
	}
}
