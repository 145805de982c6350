package explore

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/redisclient"
)

// wire is one replica's way to Redis: a real client, whose commands stop at a hook until the explorer lets them go, and whose
// connections end in memory.
type wire struct {
	memory *memory
	server int    // index of the one it leads to
	world  *world // of the schedule that runs; nil before the first

	connecting bool // the client is saying hello on a new connection, which is no part of any schedule
	client     *redis.Client
}

func newWire(m *memory, server int) (*wire, error) {
	w := &wire{memory: m, server: server}
	w.client = redisclient.Single(redisclient.Config{
		Addrs:    []string{"127.0.0.1:6379"}, // for its name alone
		Dialer:   func(context.Context, string, string) (net.Conn, error) { return &conn{wire: w}, nil },
		PoolSize: 1000,
	})
	w.client.AddHook(w)
	return w, w.client.Ping(context.Background()).Err()
}

// fate is what becomes of a command.
type fate uint8

const (
	answered  fate = iota
	replyLost      // it takes effect, but nobody learns of it
	diedAfter      // it takes effect, and its process dies
	readLate       // it takes effect, and its process stops before it has read the reply
)

// DialHook implements redis.Hook.
func (*wire) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (w *wire) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := w.pass(ctx, []redis.Cmder{cmd}, func(ctx context.Context) error { return next(ctx, cmd) })
		if err != nil {
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook. A pipeline is sent at once: one step.
func (w *wire) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return w.pass(ctx, cmds, func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

// pass holds a command back until the world lets it go. From then on it is on its way, whatever becomes of its context:
// go-redis looks at that before it writes, and not after.
func (w *wire) pass(ctx context.Context, cmds []redis.Cmder, send func(context.Context) error) error {
	if w.world == nil || w.world.current != nil && w.world.current.sending {
		defer func(before bool) { w.connecting = before }(w.connecting)
		w.connecting = true
		return send(ctx)
	}
	r := w.world.current
	if r == nil {
		w.world.fail(fmt.Errorf("%w: it sent a command in New, or from a goroutine of its own", ErrBlind))
		return ErrBlind
	}
	r.last = nil
	if err := ctx.Err(); err != nil {
		return err
	}
	r.pending, r.to, r.fate = cmds, w.server, answered
	if err := w.world.park(r); err != nil {
		return err
	}
	w.world.story.command(r)
	s := w.world.servers[w.server]
	if s.health == crashed {
		r.pending = nil
		return w.world.refuse(r, s)
	}
	r.sending = true
	err := send(context.WithoutCancel(ctx))
	r.sending = false
	w.world.sent(r, s)
	r.pending = nil
	switch r.fate {
	case readLate:
		r.actor.replica.paused, r.unread = true, true
		if err := w.world.park(r); err != nil {
			return err
		}
		r.unread = false
	case diedAfter:
		r.actor.replica.dead = true
		return errKilled
	case answered, replyLost:
	}
	if s.health == hung {
		return w.world.unanswer(ctx, r)
	}
	return err
}

func (w *wire) answer(c *conn, command []byte) ([]byte, error) {
	if !w.connecting {
		return w.world.execute(w.world.servers[w.server], c, command)
	}
	a, err := w.memory.ask(w.memory.intern(nil), 0, command)
	if err != nil {
		return nil, err
	}
	return a.reply, nil
}

// conn is a connection to the world's memory.
type conn struct {
	wire *wire
	in   []byte // sent, and not yet read by anybody
	out  bytes.Reader
}

func (c *conn) Write(p []byte) (int, error) {
	c.in = append(c.in, p...)
	return len(p), nil
}

func (c *conn) Read(p []byte) (int, error) {
	if c.out.Len() == 0 {
		reply, err := c.wire.answer(c, c.in)
		if err != nil {
			return 0, err
		}
		c.in = c.in[:0]
		c.out.Reset(reply)
	}
	return c.out.Read(p)
}

func (*conn) Close() error                     { return nil }
func (*conn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*conn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*conn) SetDeadline(time.Time) error      { return nil }
func (*conn) SetReadDeadline(time.Time) error  { return nil }
func (*conn) SetWriteDeadline(time.Time) error { return nil }
