package contestants

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/history"
	"lockstep/internal/redisclient"
)

// Run is the id of the run that is on in the Redis with the stock: the store's scripts ask for it.
const Run = "bench"

// stock is what is sold. It has a client of its own, so that buyers waiting for the lock do not delay the sale that holds it.
type stock struct {
	client *redis.Client
	fenced *dao.Store
}

func openStock(env Env) *stock {
	client := newClient(env, env.Dial, env.Addrs[0])
	return &stock{client: client, fenced: dao.NewStore(client, env.Process, 1000)}
}

// take is GET inventory and SET inventory to one less. With a fencing token both are scripts of the store, which checks the token.
func (s *stock) take(ctx context.Context, token int64) error {
	if token != 0 {
		return s.takeFenced(ctx, token)
	}
	left, err := s.client.Get(ctx, dao.InventoryKey).Int64()
	if err != nil {
		return fmt.Errorf("GET %s: %w", dao.InventoryKey, err)
	}
	if err := s.client.Set(ctx, dao.InventoryKey, left-1, 0).Err(); err != nil {
		return fmt.Errorf("SET %s: %w", dao.InventoryKey, err)
	}
	return nil
}

func (s *stock) takeFenced(ctx context.Context, token int64) error {
	order := history.Order{RunID: Run, Fence: token}
	left, err := s.fenced.Read(ctx, order)
	if err != nil {
		return err
	}
	order.Before, order.After = left, left-1
	return s.fenced.Write(ctx, order)
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
