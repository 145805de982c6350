package dao

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// errStaleConn is returned by a stale connection instead of sending anything.
var errStaleConn = fmt.Errorf("%w: the connection led to a server that was no longer the master", lock.ErrUnavailable)

// masterTracker makes sure that the commands of all clients of one Redis reach its master. When a server refuses a command because it is a
// replica, all existing connections become stale: those in use are replaced after their reply, the others when they are next taken from
// the pool. This is necessary because an address may lead to another server after a failover, and go-redis closes only the connection whose
// single command was refused. A Cluster does not need it: its replicas answer no command.
type masterTracker struct {
	onStale func() // called after connections became stale; must not wait for Redis; may be nil

	generation atomic.Int64 // number of times that all existing connections became stale
}

// dialHook wraps each new connection in a trackedConn that remembers the generation in which it was made.
func (m *masterTracker) dialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		generation := m.generation.Load() // Read before the address is resolved, so that a failover meanwhile makes the connection stale.
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &trackedConn{Conn: conn, tracker: m, generation: generation}, nil
	}
}

// send sends commands and observes their errors. A discarded transaction fails with the error of the command that Redis refused to queue.
func (m *masterTracker) send(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	generation := m.generation.Load()
	err := send(ctx)
	if redis.IsExecAbortError(err) {
		err = firstRefusal(commands, err)
	}
	m.observe(generation, err)
	for _, command := range commands {
		m.observe(generation, command.Err())
	}
	return err
}

// observe makes all existing connections stale if err comes from a replica and they have not become stale since the command began.
func (m *masterTracker) observe(generation int64, err error) {
	if err != nil && rediserr.IsReplica(err) && m.generation.CompareAndSwap(generation, generation+1) && m.onStale != nil {
		m.onStale()
	}
}

// firstRefusal returns the error of the first command that Redis refused to queue, with the name of the command. It returns discarded, the
// error of EXEC, if there is no such command.
func firstRefusal(commands []redis.Cmder, discarded error) error {
	for _, command := range commands {
		if err := command.Err(); err != nil && !redis.IsExecAbortError(err) {
			return fmt.Errorf("%s: %w", commandAndKeys(command), err)
		}
	}
	return discarded
}

// commandAndKeys formats a command's name and keys for an error message. For a script it lists all keys, because Redis does not say which
// one was refused.
func commandAndKeys(command redis.Cmder) string {
	args := command.Args()
	keys := args[1:min(2, len(args))]
	if strings.HasPrefix(command.Name(), "eval") && len(args) > 3 {
		if n, ok := args[2].(int); ok && len(args) >= 3+n {
			keys = args[3 : 3+n]
		}
	}
	name := strings.ToUpper(command.Name())
	for _, key := range keys {
		name += fmt.Sprint(" ", key)
	}
	return name
}

// trackedConn is a connection that refuses to send once it is stale.
type trackedConn struct {
	net.Conn

	tracker    *masterTracker
	generation int64 // generation of tracker when the connection was made
}

// isStale reports whether connections became stale after this one was made.
func (c *trackedConn) isStale() bool { return c.generation != c.tracker.generation.Load() }

// Write implements net.Conn. It fails with errStaleConn on a stale connection.
func (c *trackedConn) Write(p []byte) (int, error) {
	if c.isStale() {
		return 0, fmt.Errorf("%w", errStaleConn) // Wrapped, because go-redis unwraps an error of a handshake once.
	}
	return c.Conn.Write(p)
}

// SyscallConn implements syscall.Conn. On systems that support it, go-redis calls it to check a connection taken from the pool, and
// replaces the connection if the call fails. In this way stale connections are replaced.
func (c *trackedConn) SyscallConn() (syscall.RawConn, error) {
	if c.isStale() {
		return nil, errStaleConn
	}
	if below, ok := c.Conn.(syscall.Conn); ok {
		return below.SyscallConn()
	}
	return noRawConn{}, nil
}

// noRawConn stands for the raw connection below TLS or an in-memory connection, which cannot be inspected.
type noRawConn struct{}

func (noRawConn) Control(func(uintptr)) error    { return nil }
func (noRawConn) Read(func(uintptr) bool) error  { return nil }
func (noRawConn) Write(func(uintptr) bool) error { return errors.ErrUnsupported }
