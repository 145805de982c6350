package consumer

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"lockstep/locktest"
)

// A test needs only this adapter, and a client that dials by the process.
func adapter(l Lock) locktest.Lock {
	return locktest.Adapter[*Lease]{Acquire: l.Acquire, Release: (*Lease).Release, Valid: (*Lease).InTime}
}

type goRedis struct{ client *goredis.Client }

func (c goRedis) Do(ctx context.Context, command ...string) (any, error) {
	words := make([]any, len(command))
	for i, word := range command {
		words[i] = word
	}
	reply, err := c.client.Do(ctx, words...).Result()
	if errors.Is(err, goredis.Nil) {
		return nil, nil
	}
	return reply, err
}

func overGoRedis(p locktest.Process) (Client, error) {
	c := goredis.NewClient(&goredis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1})
	p.Cleanup(func() { _ = c.Close() })
	return goRedis{c}, nil
}

type rueidisClient struct{ rueidis.Client }

func (c rueidisClient) Do(ctx context.Context, command ...string) (any, error) {
	reply, err := c.Client.Do(ctx, c.B().Arbitrary(command...).Build()).ToAny()
	if rueidis.IsRedisNil(err) {
		return nil, nil
	}
	return reply, err
}

func overRueidis(p locktest.Process) (Client, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{p.Addr(0)}, ForceSingleClient: true, DisableRetry: true,
		DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return p.Dial(ctx, "tcp", addr)
		},
	})
	if err == nil {
		p.Cleanup(c.Close)
	}
	return rueidisClient{c}, err
}

type redigo struct{ pool *redis.Pool }

func (c redigo) Do(ctx context.Context, command ...string) (any, error) {
	conn, err := c.pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	words := make([]any, len(command)-1)
	for i, word := range command[1:] {
		words[i] = word
	}
	return redis.DoContext(conn, ctx, command[0], words...)
}

func overRedigo(p locktest.Process) (Client, error) {
	pool := &redis.Pool{DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", p.Addr(0), redis.DialContextFunc(func(ctx context.Context, network, addr string) (net.Conn, error) {
			return p.Dial(ctx, network, addr)
		}))
	}}
	p.Cleanup(func() { _ = pool.Close() })
	return redigo{pool}, nil
}

func explore(t *testing.T, compares bool) {
	for name, over := range map[string]func(locktest.Process) (Client, error){
		"go-redis": overGoRedis, "rueidis": overRueidis, "redigo": overRedigo,
	} {
		t.Run(name, func(t *testing.T) {
			locktest.Explore(t, locktest.Config{Key: "orders", Faults: "slow=1"}, func(p locktest.Process) (locktest.Lock, error) {
				client, err := over(p)
				return adapter(Lock{client, "orders", compares}), err
			})
		})
	}
}

func TestRight(t *testing.T) { explore(t, true) }

// It fails.
func TestWrong(t *testing.T) { explore(t, false) }
