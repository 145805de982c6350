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

// The test program is its own child, with contestants that go wrong.
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

// testContestants are a good contestant, and several that go wrong, each in its own way.
func testContestants() []contestants.Contestant {
	waits := func(ctx context.Context, _ *redis.Client, _ func()) (bool, error) {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return []contestants.Contestant{
		{Name: "decrements", Open: open(func(ctx context.Context, client *redis.Client, entered func()) (bool, error) {
			entered()
			return true, client.Decr(context.WithoutCancel(ctx), dao.InventoryKey).Err()
		})},
		{Name: "takes two", Open: open(func(ctx context.Context, client *redis.Client, entered func()) (bool, error) {
			entered()
			return true, client.DecrBy(context.WithoutCancel(ctx), dao.InventoryKey, 2).Err()
		})},
		{Name: "never gets in", Open: open(waits)},
		{Name: "stops listening", Open: open(func(context.Context, *redis.Client, func()) (bool, error) { select {} })},
		{Name: "always fails", Open: open(func(context.Context, *redis.Client, func()) (bool, error) { return false, errAlways })},
		{Name: "dies", Open: open(func(context.Context, *redis.Client, func()) (bool, error) {
			<-time.After(50 * time.Millisecond)
			panic("dies")
		})},
		{Name: "does not open", Open: func(contestants.Env) (contestants.Seller, error) { return nil, errAlways }},
		{Name: "needs three", Nodes: 3, Open: openOnThree},
	}
}

// seller sells by a function.
type seller struct {
	client *redis.Client
	sell   func(ctx context.Context, client *redis.Client, entered func()) (bool, error)
}

func (s seller) Sell(ctx context.Context, entered func()) (bool, error) {
	return s.sell(ctx, s.client, entered)
}
func (s seller) Close() error { return s.client.Close() }

func open(sell func(context.Context, *redis.Client, func()) (bool, error)) func(contestants.Env) (contestants.Seller, error) {
	return func(env contestants.Env) (contestants.Seller, error) {
		client := redisclient.Single(redisclient.Config{Addrs: env.Addrs[:1], Dialer: env.Dial})
		return seller{client: client, sell: sell}, nil
	}
}

// openOnThree sells from the first of three servers, and publishes on the third as a lock does.
func openOnThree(env contestants.Env) (contestants.Seller, error) {
	if len(env.Addrs) != 3 {
		return nil, fmt.Errorf("there are %d servers", len(env.Addrs))
	}
	third := redisclient.Single(redisclient.Config{Addrs: env.Addrs[2:], Dialer: env.DialLock})
	return open(func(ctx context.Context, client *redis.Client, entered func()) (bool, error) {
		entered()
		ctx = context.WithoutCancel(ctx)
		return true, errors.Join(client.Decr(ctx, dao.InventoryKey).Err(), third.Publish(ctx, "sold", "one").Err())
	})(env)
}
