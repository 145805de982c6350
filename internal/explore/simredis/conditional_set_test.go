package simredis

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// SET with a condition does what Redis 8.4 documents, alone and in a script.
func TestSetIf(t *testing.T) {
	m := newSimulator(t)
	sender := newClient(t, m)
	c := sender.Client
	ctx := t.Context()
	for _, step := range []struct {
		name        string
		had         string // by a key with an expiry of a minute; "": there is no key
		words       []any  // after SET and its key
		value, says string // that it has then, and the reply; "": none
		ttl         time.Duration
	}{
		{"equal", "A", []any{"B", "IFEQ", "A", "PX", 5000}, "B", "OK", 5 * time.Second},
		{"equal, no expiry", "A", []any{"B", "ifeq", "A"}, "B", "OK", 0},
		{"equal, the expiry kept", "A", []any{"B", "KEEPTTL", "IFEQ", "A"}, "B", "OK", time.Minute},
		{"equal, the old value", "A", []any{"B", "IFEQ", "A", "GET"}, "B", "A", 0},
		{"not equal", "A", []any{"B", "IFEQ", "C", "PX", 5000}, "A", "", time.Minute},
		{"not equal, the old value", "A", []any{"B", "GET", "IFEQ", "C"}, "A", "A", time.Minute},
		{"equal to nothing", "", []any{"B", "IFEQ", "A"}, "", "", 0},
		{"another", "A", []any{"B", "IFNE", "C", "EX", 5}, "B", "OK", 5 * time.Second},
		{"not another", "A", []any{"B", "IFNE", "A"}, "A", "", time.Minute},
		{"another than nothing", "", []any{"B", "IFNE", "A"}, "B", "OK", 0},
	} {
		for _, way := range []string{"alone", "in a script"} {
			cluster := m.NewCluster(m.Empty(), 0)
			sender.Attach(&direct{cluster: cluster})
			if step.had != "" {
				c.Set(ctx, "k", step.had, time.Minute)
			}
			var got *redis.Cmd
			if words := append([]any{"SET", "k"}, step.words...); way == "alone" {
				got = c.Do(ctx, words...)
			} else {
				got = c.Eval(ctx, "local r = redis.call(unpack(ARGV)) if type(r) == 'table' then r = r.ok end return r", nil, words...)
			}
			says, err := got.Text()
			value := c.Get(ctx, "k").Val()
			ttl := max(c.PTTL(ctx, "k").Val(), 0)
			if says != step.says || err != nil && !errors.Is(err, redis.Nil) || value != step.value || ttl != step.ttl {
				t.Errorf("%s, %s: %q, %v; then %q for %v; want %q, %q for %v", step.name, way, says, err, value, ttl, step.says, step.value, step.ttl)
			}
		}
	}
}

// What no Redis takes is refused, and so is what cannot be answered.
func TestSetIfRefused(t *testing.T) {
	m := newSimulator(t)
	sender := newClient(t, m)
	c := sender.Client
	ctx := t.Context()
	sender.Attach(&direct{cluster: m.NewCluster(m.Empty(), 0)})
	c.HSet(ctx, "hash", "f", "1")
	if err := c.Do(ctx, "SET", "hash", "v", "IFEQ", "v").Err(); !redis.HasErrorPrefix(err, "WRONGTYPE") {
		t.Errorf("of a hash: %v", err)
	}
	for name, err := range map[string]error{
		"two conditions": c.Do(ctx, "SET", "k", "v", "NX", "IFEQ", "v").Err(),
		"no value":       c.Do(ctx, "SET", "k", "v", "IFEQ").Err(),
		"a digest":       c.Do(ctx, "SET", "k", "v", "IFDEQ", "0123456789abcdef").Err(),
	} {
		if !errors.Is(err, ErrCommand) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := c.TxPipelined(ctx, func(tx redis.Pipeliner) error { return tx.SetIFEQ(ctx, "k", "v", "v", time.Second).Err() })
	if !errors.Is(err, ErrCommand) {
		t.Errorf("in a transaction: %v", err)
	}
}
