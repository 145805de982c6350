package simredis

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"time"

	"lockstep/internal/dao/redisclient"

	"github.com/redis/go-redis/v9"
)

// Network is what lies between clients and servers.
type Network interface {
	// Send lets a client's commands go out to a server, by deliver, when it likes, if at all.
	Send(ctx context.Context, server int, commands []redis.Cmder, deliver func(context.Context) error) error
	// Receive gives the reply to what was delivered, or to the next part of that. Those that follow it are its rest.
	Receive(conn *Conn, server int, command *Command, rest []*Command) (reply []byte, err error)
	// Next waits until the next part of what was delivered may take effect.
	AwaitNext() error
	// Mine reports whether the goroutine that asks has the turn. Another one may ask at any time, even when all is over.
	HasTurn() bool
	// Refuse is told that a client is used for what it cannot do.
	ReportMisuse(err error)
}

// Client is a real client of one server. It serves one schedule after the other: Attach.
type Client struct {
	Client  *redis.Client // sends its commands by the network
	memory  *Simulator
	server  int // its index
	network Network

	sending    bool // a command is on its way
	connecting bool // it says hello on a new connection, which is no part of any schedule

	hasBaseHook bool           // its own commands are
	learning    *cachedCommand // that is being said for the first time, or has a new reply
	lastReply   []byte         // that reply
}

// NewClient makes a client of the server with this index.
func (m *Simulator) NewClient(server int) (*Client, error) {
	c := &Client{memory: m, server: server}
	c.Client = redisclient.Single(redisclient.Config{
		Addrs:    []string{"127.0.0.1:6379"}, // for its name alone
		Dialer:   func(context.Context, string, string) (net.Conn, error) { return c.dial() },
		PoolSize: 1000,
		Buffer:   4096,
	})
	c.Client.AddHook(c)
	return c, c.Client.Ping(context.Background()).Err()
}

// dial gives a connection that a command needs. One that is to listen comes by itself.
func (c *Client) dial() (net.Conn, error) {
	if c.network != nil && !c.sending {
		err := fmt.Errorf("%w: SUBSCRIBE: listen by strategy.Parts.Notifier", ErrCommand)
		c.network.ReportMisuse(err)
		return nil, err
	}
	return &Conn{client: c}, nil
}

// Attach makes it send by this network from now on.
func (c *Client) Attach(n Network) { c.network = n }

// DialHook implements redis.Hook.
func (*Client) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook. It is called first for the client, and then for each connection that a transaction has to itself.
func (c *Client) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	process := next
	if !c.hasBaseHook {
		process = func(ctx context.Context, cmd redis.Cmder) error { return c.sendCached(ctx, cmd, next) }
	}
	c.hasBaseHook = true
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := c.send(ctx, []redis.Cmder{cmd}, func(ctx context.Context) error { return process(ctx, cmd) })
		if err != nil {
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook. A pipeline is sent at once; its commands take effect one after the other.
func (c *Client) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return c.send(ctx, cmds, func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

func (c *Client) send(ctx context.Context, cmds []redis.Cmder, next func(context.Context) error) error {
	if c.network == nil || c.sending && c.network.HasTurn() {
		defer func(before bool) { c.connecting = before }(c.connecting)
		c.connecting = true
		return next(ctx)
	}
	return c.network.Send(ctx, c.server, cmds, func(ctx context.Context) error {
		defer func() { c.sending = false }()
		c.sending = true
		return next(ctx)
	})
}

func (c *Client) receive(conn *Conn, sent []byte) ([]byte, error) {
	command := c.memory.command(sent)
	switch {
	case !c.connecting && command.parts != nil:
		return c.exchangePipeline(conn, command.parts)
	case !c.connecting:
		return c.exchange(conn, command)
	}
	a, err := c.memory.answer(c.memory.Empty(), 0, command)
	if err != nil {
		return nil, err
	}
	return a.Reply, nil
}

// hearAll gives the replies to the commands of a pipeline: all of them, or those that came before the connection broke.
func (c *Client) exchangePipeline(conn *Conn, commands []*Command) (replies []byte, err error) {
	for i, command := range commands {
		if i > 0 {
			c.sending = false // meanwhile others of its process may send
			err = c.network.AwaitNext()
			c.sending = true
		}
		var reply []byte
		if err == nil {
			reply, err = c.network.Receive(conn, c.server, command, commands[i+1:])
		}
		if err != nil {
			return replies, err
		}
		replies = append(replies, reply...)
	}
	return replies, nil
}

// Conn is a connection that ends in memory.
type Conn struct {
	client  *Client
	unread  []byte // sent, and not yet read by anybody
	replies bytes.Reader
	readErr error // why nothing comes after that
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.unread = append(c.unread, p...)
	return len(p), nil
}

// Read implements net.Conn. What was written is received when its reply is read.
func (c *Conn) Read(p []byte) (int, error) {
	if c.replies.Len() == 0 && c.readErr == nil {
		var replies []byte
		replies, c.readErr = c.client.receive(c, c.unread)
		c.unread = c.unread[:0]
		c.replies.Reset(replies)
	}
	if c.replies.Len() == 0 && c.readErr != nil {
		return 0, c.readErr
	}
	return c.replies.Read(p)
}

// Close implements net.Conn, as the methods below.
func (*Conn) Close() error { return nil }

// LocalAddr implements net.Conn.
func (*Conn) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (*Conn) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline does nothing: time is virtual.
func (*Conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (*Conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (*Conn) SetWriteDeadline(time.Time) error { return nil }
