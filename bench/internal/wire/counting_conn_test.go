package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/test/redisserver"
)

// However a stream is cut, its requests are counted, and nothing in their strings is.
func TestRequestsAreCountedHoweverTheStreamIsCut(t *testing.T) {
	request := func(args ...string) string {
		text := fmt.Sprintf("*%d\r\n", len(args))
		for _, arg := range args {
			text += fmt.Sprintf("$%d\r\n%s\r\n", len(arg), arg)
		}
		return text
	}
	stream := request("GET", "inventory") + request("SET", "inventory", "*3\r\n$1\r\n") + request("PING") + request("SET", "k", "")
	for cut := range len(stream) {
		var s requestScanner
		if n := s.count([]byte(stream[:cut])) + s.count([]byte(stream[cut:])); n != 4 {
			t.Errorf("cut at %d: %d requests; want 4", cut, n)
		}
	}
	var s requestScanner
	n := int64(0)
	for _, b := range strings.Repeat(stream, 3) {
		n += s.count([]byte(string(b)))
	}
	if n != 12 {
		t.Errorf("byte by byte: %d requests; want 12", n)
	}
}

// Both clients' requests count alike: one each, in a pipeline or not; a script is one.
func TestRequestsOfBothClientsAreCounted(t *testing.T) {
	server := redisserver.Start(t)
	requests := new(atomic.Int64)
	dialer := Dialer{Requests: requests}

	ours := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}, Dialer: dialer.DialContext, PoolSize: 1})
	t.Cleanup(func() { ours.Close() })
	theirs, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{server.Addr}, PipelineMultiplex: -1,
		DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", addr)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(theirs.Close)

	transaction := func() error {
		_, err := ours.TxPipelined(t.Context(), func(tx redis.Pipeliner) error { return tx.Get(t.Context(), "k").Err() })
		return err
	}
	const script = "redis.call('GET', KEYS[1]) return redis.call('PUBLISH', 'c', 'm')"
	ctx := t.Context()
	for _, test := range []struct {
		name string
		do   func() error
		want int64
	}{
		{"go-redis dials", func() error { return ours.Ping(ctx).Err() }, -1},
		{"go-redis SET", func() error { return ours.Set(ctx, "k", "v", 0).Err() }, 1},
		{"go-redis EVAL", func() error { return ours.Eval(ctx, script, []string{"k"}).Err() }, 1},
		{"go-redis dials for pipelines", transaction, -1},
		{"go-redis MULTI", transaction, 3},
		{"rueidis dials", func() error { return theirs.Do(ctx, theirs.B().Ping().Build()).Error() }, -1},
		{"rueidis GET", func() error { return theirs.Do(ctx, theirs.B().Get().Key("k").Build()).Error() }, 1},
		{"rueidis EVAL", func() error {
			return theirs.Do(ctx, theirs.B().Eval().Script(script).Numkeys(1).Key("k").Build()).Error()
		}, 1},
		{"rueidis pipeline", func() error {
			for _, result := range theirs.DoMulti(ctx, theirs.B().Get().Key("k").Build(), theirs.B().Ping().Build()) {
				if err := result.Error(); err != nil {
					return err
				}
			}
			return nil
		}, 2},
	} {
		before := requests.Load()
		if err := test.do(); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if n := requests.Load() - before; test.want >= 0 && n != test.want {
			t.Errorf("%s: %d requests; want %d", test.name, n, test.want)
		}
	}
}
