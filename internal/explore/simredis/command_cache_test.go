package simredis

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
)

// direct is a Network whose server answers at once. withoutConn counts the commands that came from the cache and not over a connection.
type direct struct {
	cluster     *Cluster
	withoutConn int
}

func (*direct) Send(ctx context.Context, _ int, _ []redis.Cmder, deliver func(context.Context) error) error {
	return deliver(ctx)
}

func (*direct) AwaitNext() error { return nil }

func (d *direct) Receive(conn *Conn, server int, command *Command, _ []*Command) ([]byte, error) {
	if conn == nil {
		d.withoutConn++
	}
	s := d.cluster.Servers()[server]
	a, err := d.cluster.EvaluateOnConn(s, conn, 0, 0, command)
	if err != nil {
		return nil, err
	}
	d.cluster.SetState(s, a.NewState)
	return a.Reply, nil
}

func (*direct) HasTurn() bool      { return true }
func (*direct) ReportMisuse(error) {}

// A cached command does not go through the client again, and returns what the client returned.
func TestCachedCommandReturnsSameReply(t *testing.T) {
	sim := newSimulator(t)
	sender := newClient(t, sim)
	c := sender.Client
	d := &direct{cluster: sim.NewCluster(stateWithStock(t, sim, "200"), 0)}
	sender.Attach(d)
	ctx := t.Context()
	for name, send := range map[string]func() redis.Cmder{
		"no value":           func() redis.Cmder { return c.Get(ctx, "none") },
		"a value":            func() redis.Cmder { return c.Get(ctx, "inventory") },
		"a status":           func() redis.Cmder { return c.SetArgs(ctx, "key", "A", redis.SetArgs{}) },
		"no status":          func() redis.Cmder { return c.SetArgs(ctx, "inventory", "A", redis.SetArgs{Mode: "NX"}) },
		"false":              func() redis.Cmder { return c.SetNX(ctx, "inventory", 1, 0) },
		"a number":           func() redis.Cmder { return c.Exists(ctx, "inventory", "none") },
		"a script's number":  func() redis.Cmder { return c.Eval(ctx, "return 7", nil, []byte("A"), 1, int64(2)) },
		"a script's text":    func() redis.Cmder { return c.Eval(ctx, "return ARGV[1]", nil, "A") },
		"a script's nothing": func() redis.Cmder { return c.Eval(ctx, "return nil", nil) },
		"a script's lists":   func() redis.Cmder { return c.Eval(ctx, "return {1, {'A', 2}, {}}", nil) },
		"an error":           func() redis.Cmder { return c.HGet(ctx, "inventory", "field") },
	} {
		first, before := send(), d.withoutConn
		again := send()
		if d.withoutConn != before+1 || again.String() != first.String() || fmt.Sprint(again.Err()) != fmt.Sprint(first.Err()) ||
			errors.Is(again.Err(), redis.Nil) != errors.Is(first.Err(), redis.Nil) {
			t.Errorf("%s: %d commands from the cache, reply %v; want one, and %v", name, d.withoutConn-before, again, first)
		}
	}
	list := func() any { return c.Eval(ctx, "return {1, 2}", nil).Val() }
	for range 2 {
		list().([]any)[0] = "changed by the caller"
	}
	if got := fmt.Sprint(list()); got != "[1 2]" {
		t.Errorf("a caller changed the cached list to %s; want [1 2]", got)
	}
	before := d.withoutConn
	err := c.Watch(ctx, func(tx *redis.Tx) error { return tx.Get(ctx, "inventory").Err() }, "inventory")
	if err != nil || d.withoutConn != before {
		t.Errorf("WATCH: %v, and %d commands from the cache; want none: they need the connection", err, d.withoutConn-before)
	}
}
