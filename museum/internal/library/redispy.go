package library

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

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
			return &redisPyProcess{name: p.Name, client: goRedis(p, 0, false)}, nil
		},
	}
}

type redisPyProcess struct {
	name   string
	client *redis.Client
	owners
}

func (p *redisPyProcess) Lock(ctx context.Context) (locktest.Held, error) {
	lock := port.NewRedisPy(p.client, Key, leaseOfPorts)
	if err := lock.Acquire(ctx, p.next(p.name)); err != nil {
		return nil, err
	}
	return redisPyHeld{lock}, nil
}

type redisPyHeld struct{ lock *port.RedisPy }

// Unlock says that all is well if the second release says that there is no lock.
func (h redisPyHeld) Unlock(ctx context.Context) error {
	err := h.lock.Release(ctx)
	if err == nil || errors.Is(err, port.ErrUnlocked) {
		return err
	}
	if err = h.lock.Release(ctx); errors.Is(err, port.ErrUnlocked) {
		return nil
	}
	return err
}
