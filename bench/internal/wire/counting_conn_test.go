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

// Requests are counted however the stream is divided, and text in their strings is not.
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

// Requests of both clients are counted alike, also in a pipeline. A script is one request.
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
		{name: "go-redis dials", do: func() error { return ours.Ping(ctx).Err() }, want: -1},
		{name: "go-redis SET", do: func() error { return ours.Set(ctx, "k", "v", 0).Err() }, want: 1},
		{name: "go-redis EVAL", do: func() error { return ours.Eval(ctx, script, []string{"k"}).Err() }, want: 1},
		{name: "go-redis dials for pipelines", do: transaction, want: -1},
		{name: "go-redis MULTI", do: transaction, want: 3},
		{name: "rueidis dials", do: func() error { return theirs.Do(ctx, theirs.B().Ping().Build()).Error() }, want: -1},
		{name: "rueidis GET", do: func() error { return theirs.Do(ctx, theirs.B().Get().Key("k").Build()).Error() }, want: 1},
		{name: "rueidis EVAL", do: func() error {
			return theirs.Do(ctx, theirs.B().Eval().Script(script).Numkeys(1).Key("k").Build()).Error()
		}, want: 1},
		{name: "rueidis pipeline", do: func() error {
			for _, result := range theirs.DoMulti(ctx, theirs.B().Get().Key("k").Build(), theirs.B().Ping().Build()) {
				if err := result.Error(); err != nil {
					return err
				}
			}
			return nil
		}, want: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := requests.Load()
			if err := test.do(); err != nil {
				t.Fatal(err)
			}
			if n := requests.Load() - before; test.want >= 0 && n != test.want {
				t.Errorf("%d requests; want %d", n, test.want)
			}
		})
	}
}
