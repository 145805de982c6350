package library

import (
	"context"

	"lockstep/locktest"
	"lockstep/museum/internal/port"
)

// RedissonResending is a port of Redisson's lock, with a client that sends the script again when its reply is lost.
func RedissonResending() Library {
	return Library{
		Name: "redisson-port-resending", PortOf: "Redisson 3.52.0", Faults: "lost-reply=1", Key: Key, Nodes: 1,
		Usage: "`tryLock`, `unlock`, with a watchdog and a lease of 1s; the client resends a command up to three times. " +
			"So [7367](https://github.com/redisson/redisson/issues/7367) describes it for replicated servers",
		Open: func(p locktest.Process) (locktest.Lock, error) { return openRedisson(p, true), nil },
	}
}

// RedissonInterrupted is a port of Redisson's lock, with a client that sends a command once.
func RedissonInterrupted() Library {
	return Library{
		Name: "redisson-port", PortOf: "Redisson 3.11.2", Faults: "cancel=1", Key: Key, Nodes: 1,
		Usage: "the same; the client sends a command once, and a cancelled call is an interrupted thread. " +
			"So [2714](https://github.com/redisson/redisson/issues/2714) describes it; " +
			"[7272](https://github.com/redisson/redisson/issues/7272) is a later one of its kind",
		Open: func(p locktest.Process) (locktest.Lock, error) { return openRedisson(p, false), nil },
	}
}

// openRedisson opens a lock whose every call is one of a thread of its own.
func openRedisson(p locktest.Process, resends bool) locktest.Lock {
	locks, next := port.NewRedisson(goRedis(p, 0, resends), Key, leaseOfPorts), owners(p)
	return locktest.Adapter[*port.RedissonLock]{
		Acquire: func(ctx context.Context) (*port.RedissonLock, error) { return locks.TryLock(ctx, next()) },
		Release: (*port.RedissonLock).Unlock,
	}
}
