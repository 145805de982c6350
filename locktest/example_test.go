package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/locktest"
)

// setNX is a lock as it is often written.
type setNX struct {
	client *redis.Client
	value  string
}

func (l setNX) Lock(ctx context.Context) (locktest.Held, error) {
	ok, err := l.client.SetNX(ctx, "orders", l.value, time.Second).Result()
	if err == nil && !ok {
		err = errors.New("the lock is another's")
	}
	return l, err
}

func (l setNX) Unlock(ctx context.Context) error { return l.client.Del(ctx, "orders").Err() }

// A slow holder removes the lock of the next one. In a test of your own, Explore prints this and fails the test.
func Example() {
	open := func(p locktest.Process) (locktest.Lock, error) {
		client := redis.NewClient(&redis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1})
		p.Cleanup(func() { _ = client.Close() })
		return setNX{client, p.Name}, nil
	}
	config := locktest.Config{Key: "orders", Faults: "slow=1", Allow: []locktest.Anomaly{locktest.TwoHolders}}

	var result locktest.Result
	runInTest(func(t *testing.T) {
		var err error
		if result, err = locktest.Search(t, config, open); err != nil {
			t.Fatal(err)
		}
	})
	for _, found := range result.Found {
		fmt.Printf("%s: %s\n%s\n", found.Anomaly, found.Says, found.Schedule)
	}
	// Output:
	// foreign-release: A removes B's lock
	// A:Lock B:Lock A:SET A:Unlock slow B:SET A:DEL
}
