package dao

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// replyError is an error reply of a server.
type replyError string

func (e replyError) Error() string { return string(e) }
func (replyError) RedisError()     {}

const (
	discarded = replyError("EXECABORT Transaction discarded because of previous errors.")
	noKey     = replyError("NOPERM No permissions to access a key")
	readOnly  = replyError("READONLY You can't write against a read only replica.")
)

// Redis reports only that it discarded a transaction. The reason is in its reply to the command that it refused to queue.
func TestDiscardedTransactionFailsWithRefusedCommandsError(t *testing.T) {
	refusedWith := func(err error) []redis.Cmder {
		ctx := t.Context()
		commands := []redis.Cmder{
			redis.NewStatusCmd(ctx, "multi"), redis.NewStringCmd(ctx, "get", "inventory"),
			redis.NewMapStringStringCmd(ctx, "hgetall", "{inventory}:run"),
			redis.NewCmd(ctx, "eval", "return 1", 2, "a", "b", "argument"), redis.NewSliceCmd(ctx, "exec"),
		}
		for _, command := range commands { // as go-redis does
			command.SetErr(discarded)
		}
		commands[1].SetErr(nil)
		commands[2].SetErr(err)
		return commands
	}
	script := refusedWith(nil)
	script[3].SetErr(replyError("OOM command not allowed"))
	for _, c := range []struct {
		name     string
		commands []redis.Cmder
		err      error
		want     string
	}{
		{name: "no right to a key", commands: refusedWith(noKey), err: discarded, want: "HGETALL {inventory}:run: " + string(noKey)},
		{name: "read-only", commands: refusedWith(readOnly), err: discarded, want: "HGETALL {inventory}:run: " + string(readOnly)},
		{name: "script refused", commands: script, err: discarded, want: "EVAL a b: OOM command not allowed"},
		{name: "no command refused", commands: refusedWith(nil), err: discarded, want: string(discarded)}, // nothing says why
		{name: "transaction failed", commands: refusedWith(readOnly), err: redis.TxFailedErr, want: redis.TxFailedErr.Error()},
		{name: "transaction not refused", commands: refusedWith(readOnly)},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := new(masterTracker).send(t.Context(), c.commands, func(context.Context) error { return c.err })
			if err == nil && c.want != "" || err != nil && err.Error() != c.want {
				t.Errorf("got %v; want %q", err, c.want)
			}
			code := strings.TrimSpace(c.want[strings.LastIndex(c.want, ": ")+1:])
			if err != nil && !errors.Is(err, c.err) && !redis.HasErrorPrefix(err, code) {
				t.Errorf("%v is no longer what Redis answered", err)
			}
		})
	}
}

// A connection is replaced when a replica refuses a command that was sent after the connection was made, however the refusal is worded. All
// commands in flight together replace it once.
func TestStaleConnectionsAreReplaced(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		givenUp bool
	}{
		{name: "no error", givenUp: false},
		{name: "nil reply", err: redis.Nil},
		{name: "wrong type", err: replyError("WRONGTYPE Operation against a key")},
		{name: "no replicas", err: replyError("NOREPLICAS Not enough good replicas to write.")},
		{name: "read-only", err: readOnly, givenUp: true},
		{
			name:    "read-only, in a script",
			err:     replyError("READONLY You can't write against a read only replica. script: 4926, on @user_script:1."),
			givenUp: true,
		},
		{
			name:    "read-only, in a script of an older Redis",
			err:     replyError("ERR Error running script (call to f_4926): @user_script: 1: -READONLY You can't write against a read only slave."),
			givenUp: true,
		},
		{
			name:    "master down",
			err:     replyError("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
			givenUp: true,
		},
	} {
		for name, send := range map[string]func(*masterTracker) error{
			"a command": func(m *masterTracker) error {
				return m.send(t.Context(), []redis.Cmder{redis.NewStatusCmd(t.Context(), "set")},
					func(context.Context) error { return c.err })
			},
			"one of a transaction": func(m *masterTracker) error {
				commands := []redis.Cmder{redis.NewStatusCmd(t.Context(), "get"), redis.NewStatusCmd(t.Context(), "set", "key")}
				commands[1].SetErr(c.err)
				return m.send(t.Context(), commands, func(context.Context) error { return discarded })
			},
		} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				times := 0
				m := &masterTracker{onStale: func() { times++ }}
				dial := m.dialHook(func(context.Context, string, string) (net.Conn, error) {
					clientConn, serverConn := net.Pipe()
					t.Cleanup(func() { clientConn.Close(); serverConn.Close() })
					go serverConn.Read(make([]byte, 1)) //nolint:errcheck // it ends with the pipe
					return clientConn, nil
				})
				before, err := dial(t.Context(), "tcp", "redis:6379")
				if err != nil {
					t.Fatal(err)
				}
				if !isUsable(t, before) {
					t.Error("a new connection was given up")
				}
				_ = send(m) // what it says is another test's
				if isUsable(t, before) == c.givenUp || times == 1 != c.givenUp {
					t.Errorf("given up %d times; want %t", times, c.givenUp)
				}
				after, err := dial(t.Context(), "tcp", "redis:6379")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := after.Write([]byte("x")); err != nil {
					t.Errorf("the next connection: %v", err)
				}
			})
		}
	}
}

// Only the first refusal counts of several commands that are in flight to a replica.
func TestConcurrentRefusalsMakeConnectionsStaleOnce(t *testing.T) {
	times := 0
	m := &masterTracker{onStale: func() { times++ }}
	var send func(ctx context.Context, deep int) error
	send = func(ctx context.Context, deep int) error { // each within the one before: all were sent before any was answered
		return m.send(ctx, []redis.Cmder{redis.NewStatusCmd(ctx, "set")}, func(context.Context) error {
			if deep > 0 {
				_ = send(ctx, deep-1) // it fails as this one does
			}
			return readOnly
		})
	}
	_ = send(t.Context(), 5)
	if times != 1 {
		t.Errorf("given up %d times; want once", times)
	}
	_ = send(t.Context(), 0)
	if times != 2 {
		t.Errorf("after another command: %d times; want twice", times)
	}
}

// isUsable reports whether go-redis would take a connection from its pool, which is also whether it may be written to.
func isUsable(t *testing.T, connection net.Conn) bool {
	t.Helper()
	system, ok := connection.(syscall.Conn)
	if !ok {
		t.Fatalf("go-redis cannot ask a %T", connection)
	}
	raw, err := system.SyscallConn()
	if err == nil {
		return raw.Read(func(uintptr) bool { return true }) == nil
	}
	if _, writeErr := connection.Write([]byte("x")); !errors.Is(writeErr, lock.ErrUnavailable) {
		t.Errorf("a connection that was given up: %v; want an error that says that nothing was sent", writeErr)
	}
	return false
}
