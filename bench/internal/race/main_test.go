package race_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/worker"
	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
)

// TestMain also runs this test program as a worker process, with contestants that fail.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == worker.Argument {
		if err := worker.Main(context.Background(), testContestants(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var errAlways = errors.New("always")

// testContestants returns a correct contestant, and several that fail, each in its own way.
func testContestants() []contestants.Contestant {
	waitForever := func(ctx context.Context, _ *redis.Client, _ func()) (bool, error) {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return []contestants.Contestant{
		{Name: "decrements", Open: openWith(func(ctx context.Context, client *redis.Client, entered func()) (bool, error) {
			entered()
			return true, client.Decr(context.WithoutCancel(ctx), dao.InventoryKey).Err()
		})},
		{Name: "takes two", Open: openWith(func(ctx context.Context, client *redis.Client, entered func()) (bool, error) {
			entered()
			return true, client.DecrBy(context.WithoutCancel(ctx), dao.InventoryKey, 2).Err()
		})},
		{Name: "never gets in", Open: openWith(waitForever)},
		{Name: "stops listening", Open: openWith(func(context.Context, *redis.Client, func()) (bool, error) { select {} })},
		{Name: "always fails", Open: openWith(func(context.Context, *redis.Client, func()) (bool, error) { return false, errAlways })},
		{Name: "dies", Open: openWith(func(context.Context, *redis.Client, func()) (bool, error) {
			<-time.After(50 * time.Millisecond)
			panic("dies")
		})},
		{Name: "does not open", Open: func(contestants.Env) (contestants.Seller, error) { return nil, errAlways }},
		{Name: "needs three", Nodes: 3, Open: openOnThree},
	}
}

// testSeller is a Seller that sells by a function.
type testSeller struct {
	client *redis.Client
	sell   func(ctx context.Context, client *redis.Client, entered func()) (bool, error)
}

func (s testSeller) Sell(ctx context.Context, entered func()) (bool, error) {
	return s.sell(ctx, s.client, entered)
}
func (s testSeller) Close() error { return s.client.Close() }

func openWith(sell func(context.Context, *redis.Client, func()) (bool, error)) func(contestants.Env) (contestants.Seller, error) {
	return func(env contestants.Env) (contestants.Seller, error) {
		client := redisclient.Single(redisclient.Config{Addrs: env.Addrs[:1], Dialer: env.Dial})
		return testSeller{client: client, sell: sell}, nil
	}
}

// openOnThree sells from the first of three servers, and publishes on the third.
func openOnThree(env contestants.Env) (contestants.Seller, error) {
	if len(env.Addrs) != 3 {
		return nil, fmt.Errorf("there are %d servers", len(env.Addrs))
	}
	third := redisclient.Single(redisclient.Config{Addrs: env.Addrs[2:], Dialer: env.DialLock})
	return openWith(func(ctx context.Context, client *redis.Client, entered func()) (bool, error) {
		entered()
		ctx = context.WithoutCancel(ctx)
		return true, errors.Join(client.Decr(ctx, dao.InventoryKey).Err(), third.Publish(ctx, "sold", "one").Err())
	})(env)
}
