package dao

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
)

// Attempts take half of the connections. A release does not wait behind them, and one more attempt waits as long as the pool lets it.
func TestReleaseDoesNotWaitBehindAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &connectionHook{
			master: new(masterTracker), retrier: newConnRetrier(time.Second),
			reserve: newConnReserve(redisclient.Config{PoolSize: 4, Timeout: time.Second}),
		}
		command := func() []redis.Cmder { return []redis.Cmder{redis.NewStatusCmd(t.Context(), "set")} }
		attempt := func(ctx context.Context, ended chan<- error, answer <-chan struct{}) {
			ended <- c.send(ctx, command(), func(context.Context) error { <-answer; return nil })
		}
		answer, ended := make(chan struct{}), make(chan error, 2)
		for range 2 {
			go attempt(t.Context(), ended, answer)
		}
		synctest.Wait()

		sent := false
		began := time.Now()
		err := lock.WithDetachedTimeout(t.Context(), lock.SystemClock{}, func(ctx context.Context) error {
			return c.send(ctx, command(), func(context.Context) error { sent = true; return nil })
		})
		if err != nil || !sent || time.Since(began) > 0 {
			t.Errorf("a release: %v, sent: %t, after %v; want it sent at once", err, sent, time.Since(began))
		}

		late := make(chan error, 1)
		attempt(t.Context(), late, answer)
		if err := <-late; !errors.Is(err, redis.ErrPoolTimeout) || time.Since(began) != time.Second {
			t.Errorf("one attempt more: %v after %v; want ErrPoolTimeout after 1s", err, time.Since(began))
		}
		leaving, leave := context.WithCancel(t.Context())
		leave()
		attempt(leaving, late, answer)
		if err := <-late; !errors.Is(err, context.Canceled) {
			t.Errorf("an attempt of one who has left: %v; want context.Canceled", err)
		}

		close(answer)
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		attempt(t.Context(), late, answer)
		if err := <-late; err != nil {
			t.Errorf("an attempt after them: %v", err)
		}
	})
}

// Commands that renew a lock are marked as the holder's; those of attempts are not.
func TestRenewalIsMarkedAsHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if lock.IsFromHolder(t.Context()) {
			t.Error("an attempt counts as the holder's")
		}
		renewed := make(chan bool, 1)
		opts := lock.Options{TTL: time.Second, RetryInterval: time.Millisecond, Clock: lock.SystemClock{}}
		renewal := lock.StartRenewal(opts, time.Now(), func(ctx context.Context) error {
			renewed <- lock.IsFromHolder(ctx)
			return lock.ErrNotOwner
		})
		defer renewal.Stop()
		if !<-renewed {
			t.Error("a renewal does not count as the holder's")
		}
	})
}

// Many callers that begin at once, each on a connection that sends HELLO first, do not wait for each other.
func TestHandshakeUsesNoSecondReservePermit(t *testing.T) {
	t.Parallel()
	m := miniredis.NewMiniRedis()
	defer m.Close()
	var dialled sync.WaitGroup
	dialled.Add(2)
	client := newLockClient(redisclient.Config{
		Addrs: []string{"127.0.0.1:6379"}, PoolSize: 4, Timeout: time.Second,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			dialled.Done() // so that all have a place before the first says HELLO
			dialled.Wait()
			return m.Dial()
		},
	}, new(masterTracker))
	defer client.Close()
	results := make(chan error, 2)
	for range 2 {
		go func() { results <- client.Incr(t.Context(), "n").Err() }()
	}
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
