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

// Network connects clients and servers, and decides when commands take effect.
type Network interface {
	// Send is called with the commands of a client. It calls deliver when they are to go out to the server, if at all.
	Send(ctx context.Context, server int, commands []redis.Cmder, deliver func(context.Context) error) error
	// Receive returns the reply to a command that was delivered. rest are the commands of the same pipeline that follow it.
	Receive(conn *Conn, server int, command *Command, rest []*Command) (reply []byte, err error)
	// AwaitNext waits until the next command of a delivered pipeline may take effect.
	AwaitNext() error
	// HasTurn reports whether the calling goroutine is the one that is to run. Other goroutines may call it at any time, even after the
	// schedule has ended.
	HasTurn() bool
	// ReportMisuse is called when a client is used for something that it cannot do.
	ReportMisuse(err error)
}

// Client is a real go-redis client of one server. It serves one schedule after the other, each with its own Network.
type Client struct {
	Client  *redis.Client // sends its commands through the network
	sim     *Simulator
	server  int // index of the server
	network Network

	sending    bool // a command is on its way
	connecting bool // it opens a new connection, whose greeting is no step of any schedule

	hasBaseHook bool           // ProcessHook was called for the client itself
	learning    *cachedCommand // command that is sent for the first time, or gets a new reply; nil: none
	lastReply   []byte         // that new reply
}

// NewClient creates a client of the server with this index.
func (sim *Simulator) NewClient(server int) (*Client, error) {
	c := &Client{sim: sim, server: server}
	c.Client = redisclient.Single(redisclient.Config{
		Addrs:    []string{"127.0.0.1:6379"}, // the client wants an address, and dial ignores it
		Dialer:   func(context.Context, string, string) (net.Conn, error) { return c.dial() },
		PoolSize: 1000,
		Buffer:   4096,
	})
	c.Client.AddHook(c)
	return c, c.Client.Ping(context.Background()).Err()
}

// dial opens the connection for a command. A connection outside a command is one for SUBSCRIBE, which is refused.
func (c *Client) dial() (net.Conn, error) {
	if c.network != nil && !c.sending {
		err := fmt.Errorf("%w: SUBSCRIBE: listen by strategy.Parts.Notifier", ErrCommand)
		c.network.ReportMisuse(err)
		return nil, err
	}
	return &Conn{client: c}, nil
}

// Attach makes the client send its commands through n from now on.
func (c *Client) Attach(n Network) { c.network = n }

// DialHook implements redis.Hook.
func (*Client) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook. It is called first for the client, and then for each connection that a transaction reserves.
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
	command := c.sim.command(sent)
	switch {
	case !c.connecting && command.parts != nil:
		return c.exchangePipeline(conn, command.parts)
	case !c.connecting:
		return c.exchange(conn, command)
	}
	a, err := c.sim.answer(c.sim.Empty(), 0, command)
	if err != nil {
		return nil, err
	}
	return a.Reply, nil
}

// exchangePipeline returns the replies to the commands of a pipeline, or those that came before the connection broke.
func (c *Client) exchangePipeline(conn *Conn, commands []*Command) (replies []byte, err error) {
	for i, command := range commands {
		if i > 0 {
			c.sending = false // other goroutines of the process may send while this one waits
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

// Conn is a connection to a simulated server.
type Conn struct {
	client  *Client
	unread  []byte // written by the client and not yet received by the server
	replies bytes.Reader
	readErr error // error after the last byte of replies; nil: more may come
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.unread = append(c.unread, p...)
	return len(p), nil
}

// Read implements net.Conn. The server receives what was written when the client reads the reply.
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

// Close implements net.Conn, and does nothing.
func (*Conn) Close() error { return nil }

// LocalAddr implements net.Conn.
func (*Conn) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (*Conn) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline does nothing: time is virtual.
func (*Conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing: time is virtual.
func (*Conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: time is virtual.
func (*Conn) SetWriteDeadline(time.Time) error { return nil }
