package explore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
)

// A lock that waits or sends where the explorer cannot see it gets an error that names the line, and never a verdict or a panic.
func TestHiddenWaitsAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		acquire func(context.Context, redis.Cmdable, lock.Options) error
		want    error
	}{
		"undeclared goroutines": {acquire: func(ctx context.Context, client redis.Cmdable, opts lock.Options) error {
			var all sync.WaitGroup
			for range 1 + rand.IntN(3) {
				all.Go(func() { client.Get(ctx, opts.Key) })
			}
			all.Wait()
			return nil
		}, want: explore.ErrBlind},
		"a random number of goroutines": {acquire: func(ctx context.Context, client redis.Cmdable, opts lock.Options) error {
			for range rand.IntN(4) {
				opts.Clock.Go("get", func() { client.Get(ctx, opts.Key) })
			}
			return client.Get(ctx, opts.Key).Err()
		}, want: explore.ErrUnrepeatable},
		"a deadline in real time": {acquire: func(ctx context.Context, client redis.Cmdable, opts lock.Options) error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return client.Get(ctx, opts.Key).Err()
		}, want: explore.ErrBlind},
		"a real timer": {acquire: func(ctx context.Context, client redis.Cmdable, opts lock.Options) error {
			fired := make(chan error)
			time.AfterFunc(time.Millisecond, func() { fired <- client.Get(ctx, opts.Key).Err() })
			return <-fired
		}, want: explore.ErrBlind},
	} {
		t.Run(name, func(t *testing.T) {
			strategy := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
				if err := test.acquire(ctx, client, opts); err != nil && !errors.Is(err, redis.Nil) {
					return nil, err
				}
				return nothingHeld(ctx, opts)
			})
			_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 2}, explore.Goal{All: true}, explore.Bounds{})
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), "blind_test.go:") {
				t.Errorf("got %v; want %v with the line", err, test.want)
			}
		})
	}
}
