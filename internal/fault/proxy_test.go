package fault_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the longest time that a test waits for a trap, and the timeout of its client.
const patience = 20 * time.Second

// openProxy returns a proxy to an embedded Redis, with one client that connects through it and one that does not.
func openProxy(t *testing.T) (proxy *fault.Proxy, client, outside redis.Cmdable) {
	t.Helper()
	server, err := dao.Open(t.Context(), dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	proxy, err = fault.OpenProxy(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	through := redisclient.Single(redisclient.Config{Addrs: []string{proxy.Addr()}, Timeout: patience})
	t.Cleanup(func() {
		if err := errors.Join(through.Close(), proxy.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return proxy, through, server.Store
}

// matchCommand returns a matcher for the command name with key as its first argument.
func matchCommand(name, key string) func([]string) bool {
	return func(args []string) bool { return strings.EqualFold(args[0], name) && args[1] == key }
}

// awaitCaught waits until the trap has caught a command.
func awaitCaught(t *testing.T, trap *fault.Trap) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if !trap.AwaitCaught(ctx) {
		t.Fatal("nothing was caught")
	}
}

func TestProxyPassesCommandsUnchanged(t *testing.T) {
	_, client, _ := openProxy(t)
	long := strings.Repeat("a\r\n", 10_000)
	if err := client.Set(t.Context(), "key", long, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Get(t.Context(), "key").Result(); got != long || err != nil {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(long))
	}
	if err := client.Get(t.Context(), "none").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("GET none: %v", err)
	}
	reply, err := client.Eval(t.Context(), "return {1, {'two', false}, 'three'}", nil).Slice()
	if err != nil || len(reply) != 3 || reply[2] != "three" {
		t.Errorf("EVAL: %v, %v", reply, err)
	}
}

func TestHoldStopsOneCommand(t *testing.T) {
	proxy, client, outside := openProxy(t)
	trap := proxy.Catch(matchCommand("del", "lock"), fault.Hold)
	outside.Set(t.Context(), "lock", "a", 0)
	deleted := make(chan int64, 1)
	go func() { deleted <- client.Del(t.Context(), "lock").Val() }()
	awaitCaught(t, trap)
	if got := client.Get(t.Context(), "lock").Val(); got != "a" { // over another connection
		t.Errorf("while the DEL is held, the lock is %q", got)
	}
	outside.Set(t.Context(), "lock", "b", 0)
	trap.Release()
	<-trap.Answered()
	if n, left := <-deleted, outside.Exists(t.Context(), "lock").Val(); n != 1 || left != 0 {
		t.Errorf("the DEL deleted %d, and %d is left", n, left)
	}
	if n, err := client.Del(t.Context(), "lock").Result(); n != 0 || err != nil {
		t.Errorf("the next DEL: %d, %v; a trap catches one command", n, err)
	}
}

func TestLostRequestsAndReplies(t *testing.T) {
	for name, test := range map[string]struct {
		action fault.Action
		drop   bool
		took   string // what Redis holds after the SET
	}{
		"the reply":            {action: fault.LoseReply, took: "a"},
		"the request":          {action: fault.LoseRequest},
		"what was held before": {action: fault.Hold, drop: true},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, client, outside := openProxy(t)
			trap := proxy.Catch(matchCommand("set", "lock"), test.action)
			failed := make(chan error, 1)
			go func() { failed <- client.Set(t.Context(), "lock", "a", 0).Err() }()
			awaitCaught(t, trap)
			if test.drop {
				trap.Drop()
			}
			if err := <-failed; !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
				t.Errorf("SET failed with %v; want the end of the connection", err)
			}
			if got := outside.Get(t.Context(), "lock").Val(); got != test.took {
				t.Errorf("Redis holds %q; want %q", got, test.took)
			}
		})
	}
}

func TestCutBreaksConnectionsUntilRestore(t *testing.T) {
	proxy, client, _ := openProxy(t)
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	proxy.Cut()
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("Redis answers though it is cut off")
	}
	proxy.Restore()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Errorf("after it was mended: %v", err)
	}
}

// After PointAt, new connections reach the other Redis; open ones stay.
func TestPointAtRedirectsNewConnections(t *testing.T) {
	proxy, client, _ := openProxy(t)
	_, _, other := openProxy(t)
	if err := client.Set(t.Context(), "key", "first", 0).Err(); err != nil {
		t.Fatal(err)
	}
	other.Set(t.Context(), "key", "other", 0)
	proxy.PointAt(other.(*redis.Client).Options().Addr)
	if got, err := client.Get(t.Context(), "key").Result(); got != "first" || err != nil {
		t.Errorf("GET key by the open connection: %q, %v; want the first Redis's", got, err)
	}
	late := redisclient.Single(redisclient.Config{Addrs: []string{proxy.Addr()}})
	defer late.Close()
	if got, err := late.Get(t.Context(), "key").Result(); got != "other" || err != nil {
		t.Errorf("GET key by a new connection: %q, %v; want the other Redis's", got, err)
	}
}

// Only one message is lost; later messages and replies on the same connection arrive.
func TestLoseMessageDropsOneMessage(t *testing.T) {
	proxy, client, outside := openProxy(t)
	trap := proxy.Catch(func(message []string) bool { return message[1] == "channel" && message[2] == "lost" }, fault.LoseMessage)
	subscriber := client.(*redis.Client).Subscribe(t.Context(), "channel")
	defer subscriber.Close()
	if _, err := subscriber.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{"first", "lost", "lost"} {
		if err := outside.Publish(t.Context(), "channel", message).Err(); err != nil {
			t.Fatal(err)
		}
	}
	awaitCaught(t, trap)
	for _, want := range []string{"first", "lost"} {
		if got, err := subscriber.ReceiveMessage(t.Context()); err != nil || got.Payload != want {
			t.Errorf("heard %v, %v; want %q", got, err, want)
		}
	}
	if err := subscriber.Ping(t.Context(), "still there"); err != nil {
		t.Error(err)
	}
	if got, err := subscriber.Receive(t.Context()); err != nil || got.(*redis.Pong).Payload != "still there" {
		t.Errorf("PING is answered %v, %v", got, err)
	}
}
