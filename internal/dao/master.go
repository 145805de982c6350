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

// errGivenUp means that nothing was sent.
var errStaleConn = fmt.Errorf("%w: the connection led to a server that was no longer the master", lock.ErrUnavailable)

// master watches that the commands of all clients of one Redis reach its master. When a server refuses a command because it is a replica,
// every connection made before is given up: those in use once their reply is there, the others when they are taken from the pool next. An
// address may lead to another server by now, and go-redis closes only the connection of a single command that was refused. A Cluster
// needs none of this: its replicas answer no command.
type masterTracker struct {
	onStale func() // is called when connections have been given up; nil: nobody is. It must not wait for Redis

	generation atomic.Int64 // how often connections were given up
}

// dialHook marks each connection with the generation in which it is made.
func (m *masterTracker) dialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		generation := m.generation.Load() // before the address is looked up
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &trackedConn{Conn: conn, tracker: m, generation: generation}, nil
	}
}

// send sends commands. A transaction that Redis discarded fails with the error of the command that it refused.
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

// observe gives up the connections made so far if err is of a replica, and nobody has done so since the command began.
func (m *masterTracker) observe(generation int64, err error) {
	if err != nil && rediserr.IsReplica(err) && m.generation.CompareAndSwap(generation, generation+1) && m.onStale != nil {
		m.onStale()
	}
}

// firstRefusal returns the error of the first command of a transaction that Redis refused to queue, and names the command; without one, the
// transaction's own.
func firstRefusal(commands []redis.Cmder, discarded error) error {
	for _, command := range commands {
		if err := command.Err(); err != nil && !redis.IsExecAbortError(err) {
			return fmt.Errorf("%s: %w", commandAndKeys(command), err)
		}
	}
	return discarded
}

// commandAndKeys returns a command's name and its keys; of a script it does not know which one was refused.
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

// conn is a connection that sends nothing once it has been given up.
type trackedConn struct {
	net.Conn

	tracker    *masterTracker
	generation int64
}

func (c *trackedConn) isStale() bool { return c.generation != c.tracker.generation.Load() }

func (c *trackedConn) Write(p []byte) (int, error) {
	if c.isStale() {
		return 0, fmt.Errorf("%w", errStaleConn) // go-redis unwraps once what fails while it opens a connection
	}
	return c.Conn.Write(p)
}

// SyscallConn is what go-redis asks, where the system has it, whether a connection that it takes from the pool can be used: one that was
// given up is replaced by another.
func (c *trackedConn) SyscallConn() (syscall.RawConn, error) {
	if c.isStale() {
		return nil, errStaleConn
	}
	if below, ok := c.Conn.(syscall.Conn); ok {
		return below.SyscallConn()
	}
	return noRawConn{}, nil
}

// opaque is what is below a connection by TLS, or one in memory: nobody looks into it.
type noRawConn struct{}

func (noRawConn) Control(func(uintptr)) error    { return nil }
func (noRawConn) Read(func(uintptr) bool) error  { return nil }
func (noRawConn) Write(func(uintptr) bool) error { return errors.ErrUnsupported }
