package library

import (
	"context"
	"crypto/tls"
	"net"
	"reflect"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"lockstep/locktest"
)

// Rueidislock is rueidislock on one node, as its README advises for it: one key. It has its own expiry of 5 s.
func Rueidislock(noLoop bool) Library {
	name, usage := "rueidislock", "`LockerOption{KeyMajority: 1}`, `WithContext`, `cancel`; the client resends, as is its default"
	if noLoop {
		name, usage = "rueidislock-noloop", "the same with `NoLoopTracking: true`"
	}
	return Library{
		Name: name, Module: "github.com/redis/rueidis", Key: "rueidislock:0:" + Key, Nodes: 1, Wakes: true, Usage: usage,
		Says: "The waiting Locker.WithContext will try acquiring the lock again automatically and immediately once it has been released " +
			"by someone or by another program.",
		Source: "https://github.com/redis/rueidis/tree/v1.0.79/rueidislock",
		Open: func(p locktest.Process) (locktest.Lock, error) {
			locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
				KeyMajority: 1, NoLoopTracking: noLoop, ClientOption: rueidisClient(p),
			})
			if err != nil {
				return nil, err
			}
			p.Cleanup(locker.Close)
			return locktest.Adapter[rueidisLease]{
				Acquire: func(ctx context.Context) (l rueidisLease, err error) {
					l.ctx, l.cancel, err = locker.WithContext(ctx, Key)
					return l, err
				},
				Release: func(l rueidisLease, _ context.Context) error { l.cancel(); return nil },
				Context: func(l rueidisLease) context.Context { return l.ctx },
			}, nil
		},
	}
}

// rueidisLease is what rueidislock gives a holder.
type rueidisLease struct {
	ctx    context.Context //nolint:containedctx // ends when the lock is lost
	cancel context.CancelFunc
}

func rueidisClient(p locktest.Process) rueidis.ClientOption {
	o := rueidis.ClientOption{
		InitAddress: []string{p.Addr(0)},
		DialFn: func(addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return p.Dial(context.Background(), "tcp", addr)
		},
		ForceSingleClient: true,
		// Small, since there are many clients:
		RingScaleEachConn: 4, ReadBufferEachConn: 4096, WriteBufferEachConn: 4096, CacheSizeEachConn: 4096,
	}
	// As by default, but for the random part. The old versions in the museum do not have the option.
	if option := reflect.ValueOf(&o).Elem().FieldByName("RetryDelay"); option.IsValid() {
		option.Set(reflect.ValueOf(func(attempts int, _ rueidis.Completed, _ error) time.Duration {
			return min(time.Second, time.Microsecond<<min(attempts, 20))
		}))
	}
	return o
}
