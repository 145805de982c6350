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

// Run is the id of the run that is on in the Redis with the stock: the store's scripts ask for it.
const Run = "bench"

// maxOrders is how many orders the ledger keeps.
const maxOrders = 1000

// stock is what is sold: the shop's own store. It has a client of its own, so that buyers waiting for the lock do not delay the sale that
// holds it.
type stock struct {
	*dao.Store

	client *redis.Client
}

func openStock(env Env) *stock {
	client := newClient(env, env.Dial, env.Addrs[0])
	return &stock{Store: dao.NewStore(client, env.Process, maxOrders), client: client}
}

// take sells one piece as the shop does: it reads the stock, and writes one less and the order. With a fencing token, the store checks it
// both times.
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

// newClient makes a client of one server, as the shop does.
func newClient(env Env, dial redisclient.Dialer, addr string) *redis.Client {
	return redisclient.Single(redisclient.Config{Addrs: []string{addr}, Dialer: dial, PoolSize: env.Pool})
}
