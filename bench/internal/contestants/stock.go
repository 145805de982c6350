package contestants

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/service/history"
)

// Run is the id of the current run in the Redis with the stock, which the scripts of the store check.
const Run = "bench"

// maxOrders is the number of orders that the ledger keeps.
const maxOrders = 1000

// stock is the store of package dao with a client of its own, so that buyers who wait for the lock do not delay the sale that holds it.
type stock struct {
	*dao.Store

	client *redis.Client
}

func openStock(env Env) *stock {
	client := newClient(env, env.Dial, env.Addrs[0])
	return &stock{Store: dao.NewStore(client, env.Process, maxOrders), client: client}
}

// take sells one piece as a server does: it reads the stock, and writes one less and the order. The store checks a fencing token both
// times.
func (s *stock) take(ctx context.Context, token int64) error {
	order := history.Order{ID: rand.Text(), RunID: Run, Fence: token}
	left, err := s.Read(ctx, order)
	if err != nil {
		return err
	}
	order.Before, order.After = left, left-1
	_, err = s.Write(ctx, order)
	return err
}

// Close closes the client.
func (s *stock) Close() error {
	if err := s.client.Close(); !errors.Is(err, redis.ErrClosed) {
		return err
	}
	return nil
}

// newClient returns a client of one server, with the settings of lockstep's server.
func newClient(env Env, dial redisclient.Dialer, addr string) *redis.Client {
	return redisclient.Single(redisclient.Config{Addrs: []string{addr}, Dialer: dial, PoolSize: env.Pool})
}
