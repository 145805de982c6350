package library

import (
	"context"
	"fmt"
	"io"
	_ "unsafe" // enables go:linkname

	goredis "github.com/redis/go-redis/v9"
	"github.com/zeromicro/go-zero/core/stores/redis"
	"github.com/zeromicro/go-zero/core/syncx"

	"lockstep/locktest"
)

const goZeroExpiry = 1 // seconds; the library adds half a second

// GoZero is go-zero's RedisLock as its documentation shows it, a new one for each call: it tries once. It makes its client by itself,
// which resends a command up to three times.
func GoZero() Library {
	return Library{
		Name: "go-zero", Module: "github.com/zeromicro/go-zero", Key: Key, Nodes: 1,
		Usage:  "`NewRedisLock(store, key)`, `SetExpire(1)`, `AcquireCtx`, `ReleaseCtx`; its own client resends a command up to three times",
		Says:   "AcquireCtx acquires the lock with the given ctx.",
		Source: "https://pkg.go.dev/github.com/zeromicro/go-zero@v1.10.3/core/stores/redis#RedisLock.AcquireCtx",
		Open:   func(p locktest.Process) (locktest.Lock, error) { return openGoZero(p, false) },
	}
}

// GoZeroShared is a RedisLock that all calls of a process share.
func GoZeroShared() Library {
	l := GoZero()
	l.Name, l.Usage, l.Shares = "go-zero-shared", "the same; all calls of a process share one `RedisLock`", true
	l.Open = func(p locktest.Process) (locktest.Lock, error) { return openGoZero(p, true) }
	return l
}

// goZeroClients has the clients that the library has made, by their addresses. It is the library's own, and offers no way to close one.
//
//go:linkname goZeroClients github.com/zeromicro/go-zero/core/stores/redis.clientManager
var goZeroClients *syncx.ResourceManager

// openGoZero opens a lock of which each call has its own, or all share one.
func openGoZero(p locktest.Process, shares bool) (locktest.Lock, error) {
	// No names, neither of a host nor of a port: the client begins to connect before it has its hook, so a lookup may happen.
	host := fmt.Sprintf("127.0.0.1:%d", p.Name[0])
	store, err := redis.NewRedis(redis.RedisConf{Host: host, Type: redis.NodeType}, redis.WithHook(inMemory{p}))
	if err != nil {
		return nil, err
	}
	made, err := goZeroClients.GetResource(host, func() (io.Closer, error) {
		return nil, fmt.Errorf("%s has no client", host)
	})
	if err != nil {
		return nil, err
	}
	client := made.(*goredis.Client)
	client.Options().MinRetryBackoff, client.Options().MaxRetryBackoff = 0, 0 // no random pause
	p.Cleanup(func() {
		_ = client.Close()                         // Closing a simulated connection cannot fail.
		goZeroClients = syncx.NewResourceManager() // all processes of a run end together
	})
	newLock := func() *redis.RedisLock {
		l := redis.NewRedisLock(store, Key)
		l.SetExpire(goZeroExpiry)
		return l
	}
	if shares {
		l := newLock()
		newLock = func() *redis.RedisLock { return l }
	}
	return locktest.Adapter[*redis.RedisLock]{
		Acquire: func(ctx context.Context) (*redis.RedisLock, error) {
			l := newLock()
			ok, err := l.AcquireCtx(ctx)
			if err == nil && !ok {
				err = errTaken
			}
			return l, err
		},
		Release: func(l *redis.RedisLock, ctx context.Context) error { return orNot(l.ReleaseCtx(ctx)) },
	}, nil
}

// inMemory is a hook that connects a client to a node in memory.
type inMemory struct{ process locktest.Process }

func (h inMemory) DialHook(goredis.DialHook) goredis.DialHook {
	return h.process.Dial
}

func (inMemory) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook { return next }

func (inMemory) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}
