package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// batchSize is the number of orders read with one command. It is small, so that buyers do not wait for the reader.
const batchSize = 1000

// ledgers holds all orders that were ever read from the ledger of any run, including those that Redis has lost since.
type ledgers struct {
	Entries []Entry // orders in the order in which they were read

	client *redis.Client      // client for reading
	seen   map[[2]string]bool // {run of the ledger, order id} → the order is in Entries
}

// newLedgers returns empty ledgers. Read fills them by means of client.
func newLedgers(client *redis.Client) *ledgers {
	return &ledgers{client: client, seen: map[[2]string]bool{}}
}

// Read reads all ledgers in Redis. Afterwards Entries has every order that was written before Read began.
func (l *ledgers) Read(ctx context.Context) error {
	pattern, _ := dao.OrdersKeys("*")
	keys := l.client.Scan(ctx, 0, pattern, batchSize).Iterator()
	for keys.Next(ctx) {
		if err := l.readOne(ctx, keys.Val()); err != nil {
			return fmt.Errorf("reading %s: %w", keys.Val(), err)
		}
	}
	return keys.Err()
}

// readOne reads the orders in one key.
func (l *ledgers) readOne(ctx context.Context, key string) error {
	run := runIDOfKey(key)
	fields := l.client.HScan(ctx, key, 0, "", batchSize).Iterator()
	for fields.Next(ctx) {
		id := fields.Val()
		if !fields.Next(ctx) {
			break
		}
		if l.seen[[2]string{run, id}] {
			continue
		}
		var order history.Order
		if err := json.Unmarshal([]byte(fields.Val()), &order); err != nil {
			return fmt.Errorf("order %s: %w", id, err)
		}
		if order.ID != id {
			return fmt.Errorf("order %s is stored under the id %s", order.ID, id)
		}
		l.seen[[2]string{run, id}] = true
		// To save memory in a long soak, entries lack the lock and the owner, which no rule needs.
		order.RunID, order.Replica, order.Lock, order.Owner = intern(order.RunID), intern(order.Replica), "", ""
		l.Entries = append(l.Entries, Entry{Run: run, Order: order})
	}
	return fields.Err()
}

// runIDOfKey returns the id of the run to whose ledger a key belongs. A ledger has two keys: for its newest orders, and for older orders.
func runIDOfKey(key string) string {
	prefix, older := dao.OrdersKeys("")
	return intern(strings.TrimSuffix(strings.TrimPrefix(key, prefix), strings.TrimPrefix(older, prefix)))
}

// readSnapshot reads the state of the current run in one transaction.
func readSnapshot(ctx context.Context, client *redis.Client) (Snapshot, error) {
	for {
		id, err := client.HGet(ctx, dao.RunKey, "id").Result()
		if err != nil {
			return Snapshot{}, fmt.Errorf("reading %s: %w", dao.RunKey, err)
		}
		requested := time.Now()
		var run *redis.MapStringStringCmd
		var stock *redis.StringCmd
		var newestCount, olderCount *redis.IntCmd
		_, err = client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
			newest, older := dao.OrdersKeys(id)
			run, stock = tx.HGetAll(ctx, dao.RunKey), tx.Get(ctx, dao.InventoryKey)
			newestCount, olderCount = tx.HLen(ctx, newest), tx.HLen(ctx, older)
			return nil
		})
		if err != nil {
			return Snapshot{}, fmt.Errorf("reading run %s: %w", id, err)
		}
		var now struct {
			ID      string `redis:"id"`
			Lock    string `redis:"lock"`
			Initial int64  `redis:"initial"`
			Sold    int64  `redis:"sold"`
		}
		if err := run.Scan(&now); err != nil {
			return Snapshot{}, fmt.Errorf("run %s: %w", id, err)
		}
		if now.ID != id {
			continue // a new run began meanwhile
		}
		remaining, err := stock.Int64()
		if err != nil {
			return Snapshot{}, fmt.Errorf("%s of run %s: %w", dao.InventoryKey, id, err)
		}
		return Snapshot{Requested: requested, Received: time.Now(), Orders: newestCount.Val() + olderCount.Val(), Tally: history.Tally{
			Run: history.Run{ID: id, Lock: now.Lock, Initial: now.Initial}, Remaining: remaining, Sold: now.Sold,
		}}, nil
	}
}

// countInFlight returns the number of sales in flight, by the last heartbeats of the replicas.
func countInFlight(ctx context.Context, client *redis.Client) (n int, err error) {
	state, err := dao.NewStore(client, "the soak", 1).ReadState(ctx)
	for _, replica := range state.Others {
		n += replica.Admitted
	}
	return n, err
}
