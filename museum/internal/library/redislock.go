package library

import (
	"context"
	"time"

	"github.com/bsm/redislock"

	"lockstep/locktest"
)

const redislockTTL = time.Second // shorter than a client waits for a reply

// Redislock is bsm/redislock as its README shows it: it tries once.
func Redislock() Library {
	return Library{
		Name: "redislock", Module: "github.com/bsm/redislock", Key: Key, Nodes: 1,
		Usage:  "`Obtain(ctx, key, 1s, nil)`, `Release`; the client sends a command once",
		Says:   "Obtain tries to obtain a new lock using a key with the given TTL. May return ErrNotObtained if not successful.",
		Source: "https://pkg.go.dev/github.com/bsm/redislock@v0.9.4#Client.Obtain",
		Open:   func(p locktest.Process) (locktest.Lock, error) { return openRedislock(p, false, nil), nil },
	}
}

// RedislockResending is bsm/redislock with a client that resends.
func RedislockResending() Library {
	l := Redislock()
	l.Name, l.Usage = "redislock-resending", "the same; the client resends a command up to three times, as go-redis does by default"
	l.Open = func(p locktest.Process) (locktest.Lock, error) { return openRedislock(p, true, nil), nil }
	return l
}

// RedislockWaiting is bsm/redislock with a strategy to wait.
func RedislockWaiting() Library {
	l := Redislock()
	l.Name, l.Usage = "redislock-waiting", "`Obtain(ctx, key, 1s, LinearBackoff(100ms))`, `Release`; the client sends a command once"
	l.Open = func(p locktest.Process) (locktest.Lock, error) {
		return openRedislock(p, false, &redislock.Options{RetryStrategy: redislock.LinearBackoff(Poll)}), nil
	}
	return l
}

func openRedislock(p locktest.Process, resends bool, options *redislock.Options) locktest.Lock {
	locker := redislock.New(goRedis(p, 0, resends))
	return locktest.Adapter[*redislock.Lock]{
		Acquire: func(ctx context.Context) (*redislock.Lock, error) {
			return locker.Obtain(ctx, Key, redislockTTL, options)
		},
		Release: (*redislock.Lock).Release,
	}
}
