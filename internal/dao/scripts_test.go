package dao_test

import (
	"context"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// A script is sent by its SHA-1. A Redis that does not know it has done nothing, and is sent all of it: what it does is done once.
func TestScriptsAreSentBySHA1(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		store, ctx := dao.NewStore(r.Store, "instance", 100), t.Context()
		var sent []string
		r.Store.AddHook(redisclient.Around(func(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
			if words := commands[0].Args(); len(words) > 1 {
				name, argument := words[0].(string), words[1].(string)
				sent = append(sent, name+" "+lua.File(lua.SentScript(name, argument)))
			}
			return send(ctx)
		}))
		take := func(id string, left int64) error {
			order, err := store.Take(ctx, history.Order{ID: id, RunID: "run"})
			if order.After != left {
				t.Errorf("%s leaves %d; want %d", id, order.After, left)
			}
			return err
		}
		unknown := func(file string) []string { return []string{"evalsha " + file, "eval " + file} }
		for _, step := range []struct {
			name string
			do   func() error
			want []string
		}{
			{
				name: "the first run", do: func() error { return store.Start(ctx, history.Run{}, history.Run{ID: "run", Initial: 5}) },
				want: unknown("startRun.lua"),
			},
			{name: "the first sale", do: func() error { return take("one", 4) }, want: unknown("take.lua")},
			{name: "the second", do: func() error { return take("two", 3) }, want: []string{"evalsha take.lua"}},
			{name: "a restart", do: func() error { return r.Store.ScriptFlush(ctx).Err() }},
			{name: "the third", do: func() error { return take("three", 2) }, want: unknown("take.lua")},
		} {
			sent = nil
			if err := step.do(); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
			if step.want != nil && !slices.Equal(sent, step.want) {
				t.Errorf("%s sends %v; want %v", step.name, sent, step.want)
			}
		}
	})
}
