package dao_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

// A replica lives for as long as its last heartbeat says. One whose heartbeat is from the future, as Redis's clock has gone back, does not:
// it is named, and the next heartbeat of another forgets it.
func TestReplicasWithFutureHeartbeatsAreReturned(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store := dao.NewStore(r.Store, "asking", 100)
		now := time.Now() // Redis's clock is this machine's
		for name, dies := range map[string]time.Time{
			"living": now.Add(service.ReplicaLifetime / 2), "dead": now.Add(-time.Second), "future": now.Add(time.Hour),
			"a minute ahead": now.Add(time.Minute),
		} {
			mustSucceed(t, r.Store.HSet(t.Context(), "{inventory}:replicas", name, fmt.Sprintf(`%d {"replica":%q}`, dies.UnixMilli(), name)).Err())
		}
		state, err := store.ReadState(t.Context())
		if _, lives := state.Others["living"]; err != nil || !lives || len(state.Others) != 1 {
			t.Errorf("%v, %v live; want the one whose heartbeat is of now", state.Others, err)
		}
		for _, when := range []string{"asked", "told"} { // who only asks forgets none
			names := make([]string, 0, len(state.Future))
			for _, other := range state.Future {
				names = append(names, other.Name)
			}
			if slices.Sort(names); !slices.Equal(names, []string{"a minute ahead", "future"}) {
				t.Errorf("when %s, from the future are %q", when, names)
			}
			state, err = store.Beat(t.Context(), service.Replica{})
			mustSucceed(t, err)
		}
		state, err = store.ReadState(t.Context())
		if err != nil || len(state.Future) != 0 || len(state.Others) != 1 {
			t.Errorf("%v from the future, %v live, %v after a heartbeat", state.Future, state.Others, err)
		}
	})
}

// A ledger that keeps n orders keeps each until n newer ones are written: in its own run, and after others have begun.
func TestOrderIsKeptUntilEnoughAreNewer(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		const keeps = 10
		store := dao.NewStore(r.Store, "instance", keeps)
		run := history.Run{ID: "run 0", Initial: 1000}
		mustSucceed(t, store.Start(t.Context(), history.Run{}, run))
		var made []string
		for i := range 3 * keeps {
			if i%7 == 6 {
				next := history.Run{ID: fmt.Sprint("run ", i), Initial: 1000}
				mustSucceed(t, store.Start(t.Context(), run, next))
				run = next
			}
			made = append(made, fmt.Sprint("order ", i))
			_, err := store.Take(t.Context(), history.Order{ID: made[i], RunID: run.ID})
			mustSucceed(t, err)
			for _, id := range made[max(0, i-keeps):] {
				if _, err := store.Order(t.Context(), id); err != nil {
					t.Errorf("%s after %s: %v", id, made[i], err)
				}
			}
		}
		if _, err := store.Order(t.Context(), made[0]); err == nil {
			t.Errorf("%s is still kept after %d others", made[0], len(made)-1)
		}
	})
}
