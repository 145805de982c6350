package dao_test

import (
	"testing"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// A run is read as it began: its settings are equal to those of the replica that began it. What cannot be read is equal to none.
func TestParseRunRestoresStartedRun(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store, ctx := dao.NewStore(r.Store, "instance", 100), t.Context()
		run := history.Run{
			ID: "run", Lock: "v9", Initial: 7, Tuning: history.Tuning{TTL: 10, Nested: 1}, Segments: 3, Forgot: true,
			Settings: history.Settings{
				Lock: "v4", Initial: 200, TTL: time.Second, RetryInterval: 20*time.Millisecond + 1, WaitTimeout: time.Minute, HandOffLimit: 64,
				Think: time.Millisecond, Nested: 2,
			},
		}
		if err := store.Start(ctx, history.Run{}, run); err != nil {
			t.Fatal(err)
		}
		if state, err := store.ReadState(ctx); err != nil || state.Run != run {
			t.Errorf("%+v, %v; want %+v", state.Run, err, run)
		}
		r.Store.HSet(ctx, dao.RunKey, "settings", "lock v4, ttl 1s")
		run.Settings = history.Settings{}
		if state, err := store.ReadState(ctx); err != nil || state.Run != run {
			t.Errorf("with unreadable settings: %+v, %v", state.Run, err)
		}
	})
}
