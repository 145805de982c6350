package simredis

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// SET with a condition does what Redis 8.4 documents, alone and in a script.
func TestConditionalSetBehavesAsRedis84(t *testing.T) {
	sim := newSimulator(t)
	sender := newClient(t, sim)
	c := sender.Client
	ctx := t.Context()
	for _, test := range []struct {
		name         string
		old          string // value before, with an expiry of a minute; "": there is no key
		words        []any  // arguments after SET and its key
		value, reply string // value and reply after it; "": none
		ttl          time.Duration
	}{
		{name: "equal", old: "A", words: []any{"B", "IFEQ", "A", "PX", 5000}, value: "B", reply: "OK", ttl: 5 * time.Second},
		{name: "equal, no expiry", old: "A", words: []any{"B", "ifeq", "A"}, value: "B", reply: "OK", ttl: 0},
		{name: "equal, the expiry kept", old: "A", words: []any{"B", "KEEPTTL", "IFEQ", "A"}, value: "B", reply: "OK", ttl: time.Minute},
		{name: "equal, the old value", old: "A", words: []any{"B", "IFEQ", "A", "GET"}, value: "B", reply: "A", ttl: 0},
		{name: "not equal", old: "A", words: []any{"B", "IFEQ", "C", "PX", 5000}, value: "A", reply: "", ttl: time.Minute},
		{name: "not equal, the old value", old: "A", words: []any{"B", "GET", "IFEQ", "C"}, value: "A", reply: "A", ttl: time.Minute},
		{name: "equal to nothing", old: "", words: []any{"B", "IFEQ", "A"}, value: "", reply: "", ttl: 0},
		{name: "another", old: "A", words: []any{"B", "IFNE", "C", "EX", 5}, value: "B", reply: "OK", ttl: 5 * time.Second},
		{name: "not another", old: "A", words: []any{"B", "IFNE", "A"}, value: "A", reply: "", ttl: time.Minute},
		{name: "another than nothing", old: "", words: []any{"B", "IFNE", "A"}, value: "B", reply: "OK", ttl: 0},
	} {
		for _, way := range []string{"alone", "in a script"} {
			cluster := sim.NewCluster(sim.Empty(), 0)
			sender.Attach(&direct{cluster: cluster})
			if test.old != "" {
				c.Set(ctx, "k", test.old, time.Minute)
			}
			var got *redis.Cmd
			if words := append([]any{"SET", "k"}, test.words...); way == "alone" {
				got = c.Do(ctx, words...)
			} else {
				got = c.Eval(ctx, "local r = redis.call(unpack(ARGV)) if type(r) == 'table' then r = r.ok end return r", nil, words...)
			}
			reply, err := got.Text()
			value := c.Get(ctx, "k").Val()
			ttl := max(c.PTTL(ctx, "k").Val(), 0)
			if reply != test.reply || err != nil && !errors.Is(err, redis.Nil) || value != test.value || ttl != test.ttl {
				t.Errorf("%s, %s: reply %q, %v, then value %q for %v; want %q, %q for %v",
					test.name, way, reply, err, value, ttl, test.reply, test.value, test.ttl)
			}
		}
	}
}

// A conditional SET that Redis refuses, or that the simulator cannot answer, is refused.
func TestConditionalSetRefusesMalformed(t *testing.T) {
	sim := newSimulator(t)
	sender := newClient(t, sim)
	c := sender.Client
	ctx := t.Context()
	sender.Attach(&direct{cluster: sim.NewCluster(sim.Empty(), 0)})
	c.HSet(ctx, "hash", "f", "1")
	if err := c.Do(ctx, "SET", "hash", "v", "IFEQ", "v").Err(); !redis.HasErrorPrefix(err, "WRONGTYPE") {
		t.Errorf("SET of a hash: %v; want WRONGTYPE", err)
	}
	for name, err := range map[string]error{
		"two conditions": c.Do(ctx, "SET", "k", "v", "NX", "IFEQ", "v").Err(),
		"no value":       c.Do(ctx, "SET", "k", "v", "IFEQ").Err(),
		"a digest":       c.Do(ctx, "SET", "k", "v", "IFDEQ", "0123456789abcdef").Err(),
	} {
		if !errors.Is(err, ErrCommand) {
			t.Errorf("%s: %v; want ErrCommand", name, err)
		}
	}
	_, err := c.TxPipelined(ctx, func(tx redis.Pipeliner) error { return tx.SetIFEQ(ctx, "k", "v", "v", time.Second).Err() })
	if !errors.Is(err, ErrCommand) {
		t.Errorf("in a transaction: %v; want ErrCommand", err)
	}
}
