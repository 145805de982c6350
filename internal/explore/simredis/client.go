package simredis

import (
	"bytes"
	"context"
	"net"
	"time"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/language"

	"github.com/redis/go-redis/v9"
)

// Network connects clients and servers, and decides when commands take effect.
type Network interface {
	// Send is called with the commands of a client. It calls deliver when the client may write them to the server, if at all.
	Send(ctx context.Context, server int, commands []redis.Cmder, deliver func(context.Context) error) error
	// Receive returns the reply to a command that was delivered. rest are the commands of the same pipeline that follow it.
	Receive(conn *Conn, server int, command *Command, rest []*Command) (reply []byte, err error)
	// AwaitNext waits until the next command of a delivered pipeline may take effect.
	AwaitNext() error
	// HasTurn reports whether the calling goroutine is the one that may run now. Other goroutines may call it at any time, even after the
	// schedule has ended.
	HasTurn() bool
	// ReportMisuse is called with the error when a client is used for something that the simulation does not support.
	ReportMisuse(err error)
}

// Client is a real go-redis client of one server. It serves one schedule after the other, each with its own Network.
type Client struct {
	Client  *redis.Client // client for the code under test; it sends its commands through the network
	sim     *Simulator
	server  int     // index of the server
	network Network // where commands are sent; nil: no schedule runs

	isSending    bool // a command is on its way
	isConnecting bool // the client is opening a connection; the commands that this takes are not steps of a schedule

	hasBaseHook  bool           // ProcessHook was called for the client itself; later calls are for connections
	pendingEntry *cachedCommand // cache entry of a command that is sent for the first time, or gets a new reply; nil: none
	lastReply    []byte         // new reply to the command of pendingEntry; nil: not received yet
}

// NewClient creates a client of the server with this index.
func (sim *Simulator) NewClient(server int) (*Client, error) {
	c := &Client{sim: sim, server: server}
	c.Client = redisclient.Single(redisclient.Config{
		Addrs:    []string{"127.0.0.1:6379"}, // the client needs an address, which dial ignores
		Dialer:   func(context.Context, string, string) (net.Conn, error) { return c.dial() },
		PoolSize: 1000,
		Buffer:   4096,
	})
	c.Client.AddHook(c)
	return c, c.Client.Ping(context.Background()).Err()
}

// dial opens the connection for a command. It refuses to open one outside a command: that would be for SUBSCRIBE.
func (client *Client) dial() (net.Conn, error) {
	if client.network != nil && !client.isSending {
		err := errUnsupported("SUBSCRIBE", language.Both("listen by strategy.Parts.Notifier", "请用 strategy.Parts.Notifier 监听"))
		client.network.ReportMisuse(err)
		return nil, err
	}
	return &Conn{client: client}, nil
}

// Attach makes the client send its commands through n from now on.
func (client *Client) Attach(n Network) { client.network = n }

// DialHook implements redis.Hook.
func (*Client) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook. It is called first for the client, and then for each connection that a transaction reserves.
func (client *Client) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	process := next
	if !client.hasBaseHook {
		process = func(ctx context.Context, cmd redis.Cmder) error { return client.sendCached(ctx, cmd, next) }
	}
	client.hasBaseHook = true
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := client.send(ctx, []redis.Cmder{cmd}, func(ctx context.Context) error { return process(ctx, cmd) })
		if err != nil {
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook. A pipeline is sent at once; its commands take effect one after the other.
func (client *Client) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return client.send(ctx, cmds, func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

// send calls next, which sends the commands, once the network allows it. While a connection is being opened, send calls next at once.
func (client *Client) send(ctx context.Context, cmds []redis.Cmder, next func(context.Context) error) error {
	if client.network == nil || client.isSending && client.network.HasTurn() {
		defer func(before bool) { client.isConnecting = before }(client.isConnecting)
		client.isConnecting = true
		return next(ctx)
	}
	return client.network.Send(ctx, client.server, cmds, func(ctx context.Context) error {
		defer func() { client.isSending = false }()
		client.isSending = true
		return next(ctx)
	})
}

// receive returns the replies to the bytes that were written to a connection.
func (client *Client) receive(conn *Conn, sent []byte) ([]byte, error) {
	command := client.sim.command(sent)
	switch {
	case !client.isConnecting && command.parts != nil:
		return client.exchangePipeline(conn, command.parts)
	case !client.isConnecting:
		return client.exchange(conn, command)
	}
	a, err := client.sim.answer(client.sim.Empty(), 0, command)
	if err != nil {
		return nil, err
	}
	return a.Reply, nil
}

// exchangePipeline returns the replies to the commands of a pipeline; if the connection breaks, the replies until then and an error.
func (client *Client) exchangePipeline(conn *Conn, commands []*Command) (replies []byte, err error) {
	for i, command := range commands {
		if i > 0 {
			client.isSending = false // other goroutines of the process may send while this one waits
			err = client.network.AwaitNext()
			client.isSending = true
		}
		var reply []byte
		if err == nil {
			reply, err = client.network.Receive(conn, client.server, command, commands[i+1:])
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
	unread  []byte       // written by the client and not yet received by the server
	replies bytes.Reader // replies that the client has not read
	readErr error        // error after the last byte of replies; nil: more may come
}

// Write implements net.Conn.
func (conn *Conn) Write(p []byte) (int, error) {
	conn.unread = append(conn.unread, p...)
	return len(p), nil
}

// Read implements net.Conn. The server receives the written bytes only when the client reads the reply.
func (conn *Conn) Read(p []byte) (int, error) {
	if conn.replies.Len() == 0 && conn.readErr == nil {
		var replies []byte
		replies, conn.readErr = conn.client.receive(conn, conn.unread)
		conn.unread = conn.unread[:0]
		conn.replies.Reset(replies)
	}
	if conn.replies.Len() == 0 && conn.readErr != nil {
		return 0, conn.readErr
	}
	return conn.replies.Read(p)
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
