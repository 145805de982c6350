package dao_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

// A script that meets a malformed key of the shop changes all or nothing, and its error names the key.
func TestMalformedKeysAreReportedAsBadData(t *testing.T) {
	order := history.Order{ID: "order", RunID: "run", After: 4, Fence: 7}
	run := history.Run{ID: "run", Lock: "v4", Initial: 5}
	newest, older := dao.OrdersKeys(run.ID)
	sells := map[string]func(context.Context, *dao.Store) error{
		"read":  func(ctx context.Context, s *dao.Store) error { _, err := s.Read(ctx, order); return err },
		"write": func(ctx context.Context, s *dao.Store) error { _, err := s.Write(ctx, order); return err },
		"take":  func(ctx context.Context, s *dao.Store) error { _, err := s.Take(ctx, order); return err },
		"watch": func(ctx context.Context, s *dao.Store) error {
			return s.Watch(ctx, func(stock service.Stock) error { _, err := stock.Write(ctx, order); return err })
		},
		"start": func(ctx context.Context, s *dao.Store) error {
			return s.Start(ctx, run, history.Run{ID: "next", Lock: "v4", Initial: 9})
		},
		"tally": func(ctx context.Context, s *dao.Store) error { _, err := s.Tally(ctx); return err },
		"beat": func(ctx context.Context, s *dao.Store) error {
			_, err := s.Beat(ctx, service.Replica{Run: "run", Overlap: 2})
			return err
		},
	}
	type hand = func(redis.Cmdable)
	list := func(key string) hand {
		return func(r redis.Cmdable) { r.Del(t.Context(), key); r.LPush(t.Context(), key, "by hand") }
	}
	text := func(key string) hand { return func(r redis.Cmdable) { r.Set(t.Context(), key, "abc", 0) } }
	field := func(name string) hand {
		return func(r redis.Cmdable) { r.HSet(t.Context(), dao.RunKey, name, "abc") }
	}
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store := dao.NewStore(r.Store, "instance", 100)
		for _, c := range []struct {
			name, want string
			set        hand
			ops        string
		}{
			{name: "the ledger", want: newest, set: list(newest), ops: "write take watch start"},
			{name: "the largest token, as a list", want: "{inventory}:fence", set: list("{inventory}:fence"), ops: "read write watch"},
			{name: "the largest token, as a text", want: "{inventory}:fence", set: text("{inventory}:fence"), ops: "read write watch"},
			{name: "the orders before these", want: older, set: list(older), ops: "write take watch start"},
			{name: "the runs that are over", want: "{inventory}:runs_over", set: text("{inventory}:runs_over"), ops: "start"},
			{name: "the replicas", want: "{inventory}:replicas", set: list("{inventory}:replicas"), ops: "beat tally"},
			{name: "the run", want: dao.RunKey, set: list(dao.RunKey), ops: "read write take watch start beat"},
			{name: "the count of sales", want: "sold of the key {inventory}:run", set: field("sold"), ops: "write take watch tally"},
			{
				name: "the count in flight", want: "max_in_flight of the key {inventory}:run", set: field("max_in_flight"),
				ops: "write take watch tally",
			},
		} {
			for op := range strings.FieldsSeq(c.ops) {
				t.Run(c.name+", "+op, func(t *testing.T) {
					r.Store.FlushAll(t.Context())
					if err := store.Start(t.Context(), history.Run{}, run); err != nil {
						t.Fatal(err)
					}
					c.set(r.Store)
					before := contents(t, r.Store)
					err := sells[op](t.Context(), store)
					if !errors.Is(err, service.ErrBadData) || !strings.Contains(err.Error(), c.want) {
						t.Errorf("got %v; want the key %s named", err, c.want)
					}
					if after := contents(t, r.Store); !maps.Equal(before, after) {
						t.Errorf("it left\n%v\nof\n%v", after, before)
					}
				})
			}
		}
	})
}

// contents returns the values of all keys in a Redis, by key.
func contents(t *testing.T, r redis.Cmdable) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range r.Keys(t.Context(), "*").Val() {
		switch kind := r.Type(t.Context(), key).Val(); kind {
		case "string":
			all[key] = r.Get(t.Context(), key).Val()
		case "hash":
			all[key] = fmt.Sprint(r.HGetAll(t.Context(), key).Val())
		case "list":
			all[key] = fmt.Sprint(r.LRange(t.Context(), key, 0, -1).Val())
		default:
			all[key] = kind
		}
	}
	return all
}
