package library

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/museum/internal/port"
)

// RedissonResending is a port of Redisson's lock, with a client that sends the script again when its reply is lost.
func RedissonResending() Library {
	return Library{
		Name: "redisson-port-resending", PortOf: "Redisson 3.52.0", Faults: "lost-reply=1", Key: Key, Nodes: 1,
		Usage: "`tryLock`, `unlock`, with a watchdog and a lease of 1s; the client resends a command up to three times. " +
			"So [7367](https://github.com/redisson/redisson/issues/7367) describes it for replicated servers",
		Open: func(_ string, dial Dial) (Process, error) { return openRedisson(dial, true), nil },
	}
}

// RedissonInterrupted is a port of Redisson's lock, with a client that sends a command once.
func RedissonInterrupted() Library {
	return Library{
		Name: "redisson-port", PortOf: "Redisson 3.11.2", Faults: "cancel=1", Key: Key, Nodes: 1,
		Usage: "the same; the client sends a command once, and a cancelled call is an interrupted thread. " +
			"So [2714](https://github.com/redisson/redisson/issues/2714) describes it; " +
			"[7272](https://github.com/redisson/redisson/issues/7272) is a later one of its kind",
		Open: func(_ string, dial Dial) (Process, error) { return openRedisson(dial, false), nil },
	}
}

type redissonProcess struct {
	client *redis.Client
	locks  *port.Redisson
	owners
}

func openRedisson(dial Dial, resends bool) *redissonProcess {
	client := goRedis(dial, 0, resends)
	return &redissonProcess{client: client, locks: port.NewRedisson(client, Key, leaseOfPorts)}
}

// Lock is called by a thread of its own each time.
func (p *redissonProcess) Lock(ctx context.Context) (Held, error) {
	lock, err := p.locks.TryLock(ctx, p.next())
	if err != nil {
		return nil, err
	}
	return redissonHeld{lock}, nil
}

func (p *redissonProcess) Close() { _ = p.client.Close() } // there is nothing behind it

type redissonHeld struct{ *port.RedissonLock }

// Valid is true: the library does not tell its holder anything.
func (redissonHeld) Valid() bool { return true }
