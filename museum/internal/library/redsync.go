package library

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"lockstep/locktest"
)

// Redsync is go-redsync/redsync on so many nodes, with its own expiry of 8 s. Its pause between two attempts is random by default.
func Redsync(nodes int, resends bool) Library {
	name, sends := fmt.Sprintf("redsync-%d", nodes), "the clients send a command once"
	if resends {
		name, sends = name+"-resending", "the clients resend a command up to three times, as go-redis does by default"
	}
	return Library{
		Name: name, Module: "github.com/go-redsync/redsync/v4", Key: Key, Nodes: nodes,
		Usage:  "`NewMutex(key, WithRetryDelay(100ms))`, `LockContext`, `UnlockContext`; " + sends,
		Says:   "After this is successful, no one else can obtain the same lock (the same mutex name) until we unlock it.",
		Source: "https://github.com/go-redsync/redsync/blob/v4.18.1/README.md",
		Open: func(p locktest.Process) (locktest.Lock, error) {
			var pools []redsyncredis.Pool
			for node := range nodes {
				pools = append(pools, goredis.NewPool(goRedis(p, node, resends)))
			}
			mutexes := redsync.New(pools...)
			return locktest.Adapter[*redsync.Mutex]{
				Acquire: func(ctx context.Context) (*redsync.Mutex, error) {
					mutex := mutexes.NewMutex(Key, redsync.WithRetryDelay(Poll))
					return mutex, mutex.LockContext(ctx)
				},
				Release: func(mutex *redsync.Mutex, ctx context.Context) error { return orNot(mutex.UnlockContext(ctx)) },
				Valid:   func(mutex *redsync.Mutex) bool { return time.Now().Before(mutex.Until()) },
			}, nil
		},
	}
}
