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

// What the explorer cannot see is an error that names the line, whatever the lock does: never a verdict, and never a panic.
func TestWhatCannotBeSeenIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		take func(context.Context, redis.Cmdable, lock.Options) error
		want error
	}{
		"goroutines of its own": {func(ctx context.Context, client redis.Cmdable, opts lock.Options) error {
			var all sync.WaitGroup
			for range 1 + rand.IntN(3) {
				all.Go(func() { client.Get(ctx, opts.Key) })
			}
			all.Wait()
			return nil
		}, explore.ErrBlind},
		"a number of goroutines that chance decides": {func(ctx context.Context, client redis.Cmdable, opts lock.Options) error {
			for range rand.IntN(4) {
				opts.Clock.Go("get", func() { client.Get(ctx, opts.Key) })
			}
			return client.Get(ctx, opts.Key).Err()
		}, explore.ErrUnrepeatable},
		"a deadline in real time": {func(ctx context.Context, client redis.Cmdable, opts lock.Options) error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return client.Get(ctx, opts.Key).Err()
		}, explore.ErrBlind},
		"a real timer": {func(ctx context.Context, client redis.Cmdable, opts lock.Options) error {
			fired := make(chan error)
			time.AfterFunc(time.Millisecond, func() { fired <- client.Get(ctx, opts.Key).Err() })
			return <-fired
		}, explore.ErrBlind},
	} {
		t.Run(name, func(t *testing.T) {
			strategy := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
				if err := test.take(ctx, client, opts); err != nil && !errors.Is(err, redis.Nil) {
					return nil, err
				}
				return nothingHeld(ctx, opts)
			})
			_, err := explore.Explore(t.Context(), strategy, explore.Scenario{Actors: 2}, explore.Goal{All: true}, explore.Bounds{})
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), "blind_test.go:") {
				t.Errorf("%v; want %v, and the line", err, test.want)
			}
		})
	}
}
