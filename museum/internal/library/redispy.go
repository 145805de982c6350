package library

import (
	"context"
	"errors"

	"lockstep/locktest"
	"lockstep/museum/internal/port"
)

// RedisPy is a port of redis-py's lock. Its caller tries a release that failed once more, and believes what it is then told.
func RedisPy() Library {
	return Library{
		Name: "redis-py-port", PortOf: "redis-py, before [4258](https://github.com/redis/redis-py/pull/4258)", Key: Key, Nodes: 1,
		Faults: "lost-request=1",
		Usage:  "`acquire(blocking=False)`, with a timeout of 1s, `release`, and once more if that fails; the client sends a command once",
		Open: func(p locktest.Process) (locktest.Lock, error) {
			client, next := goRedis(p, 0, false), owners(p)
			return locktest.Adapter[*port.RedisPy]{
				Acquire: func(ctx context.Context) (*port.RedisPy, error) {
					l := port.NewRedisPy(client, Key, leaseOfPorts)
					return l, l.Acquire(ctx, next())
				},
				Release: func(l *port.RedisPy, ctx context.Context) error { return releaseTwice(ctx, l) },
			}, nil
		},
	}
}

// releaseTwice says that all is well if the second release says that there is no lock.
func releaseTwice(ctx context.Context, l *port.RedisPy) error {
	err := l.Release(ctx)
	if err == nil || errors.Is(err, port.ErrUnlocked) {
		return err
	}
	if err = l.Release(ctx); errors.Is(err, port.ErrUnlocked) {
		return nil
	}
	return err
}
