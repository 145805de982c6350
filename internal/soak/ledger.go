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

// batchSize is how many orders are read at once, so that the buyers do not wait for the reader.
const batchSize = 1000

// ledgers are all orders that were ever read in any run's ledger, including those that Redis has lost since.
type ledgers struct {
	Entries []Entry

	client *redis.Client
	seen   map[[2]string]bool // whether an order is among the entries, by its ledger's run and its id
}

// newLedgers reads the ledgers in client's Redis.
func newLedgers(client *redis.Client) *ledgers {
	return &ledgers{client: client, seen: map[[2]string]bool{}}
}

// Read reads every ledger there is. An order that was written before it began is among the entries afterwards.
func (l *ledgers) Read(ctx context.Context) error {
	every, _ := dao.OrdersKeys("*")
	keys := l.client.Scan(ctx, 0, every, batchSize).Iterator()
	for keys.Next(ctx) {
		if err := l.readOne(ctx, keys.Val()); err != nil {
			return fmt.Errorf("reading %s: %w", keys.Val(), err)
		}
	}
	return keys.Err()
}

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
			return fmt.Errorf("order %s is kept as %s", order.ID, id)
		}
		l.seen[[2]string{run, id}] = true
		order.RunID, order.Replica, order.Lock, order.Owner = intern(order.RunID), intern(order.Replica), "", "" // what is judged is kept alone
		l.Entries = append(l.Entries, Entry{Run: run, Order: order})
	}
	return fields.Err()
}

// runIDOfKey reads the run's id in the key of its newest orders, or of those before.
func runIDOfKey(key string) string {
	prefix, older := dao.OrdersKeys("")
	return intern(strings.TrimSuffix(strings.TrimPrefix(key, prefix), strings.TrimPrefix(older, prefix)))
}

// readSnapshot returns the current run, all of it at one moment: a sale changes it in one step.
func readSnapshot(ctx context.Context, client *redis.Client) (Snapshot, error) {
	for {
		id, err := client.HGet(ctx, dao.RunKey, "id").Result()
		if err != nil {
			return Snapshot{}, fmt.Errorf("reading %s: %w", dao.RunKey, err)
		}
		asked := time.Now()
		var run *redis.MapStringStringCmd
		var stock *redis.StringCmd
		var kept, before *redis.IntCmd
		_, err = client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
			newest, older := dao.OrdersKeys(id)
			run, stock = tx.HGetAll(ctx, dao.RunKey), tx.Get(ctx, dao.InventoryKey)
			kept, before = tx.HLen(ctx, newest), tx.HLen(ctx, older)
			return nil
		})
		if err != nil {
			return Snapshot{}, fmt.Errorf("looking at the run: %w", err)
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
		return Snapshot{Requested: asked, Received: time.Now(), Orders: kept.Val() + before.Val(), Tally: history.Tally{
			Run: history.Run{ID: id, Lock: now.Lock, Initial: now.Initial}, Remaining: remaining, Sold: now.Sold,
		}}, nil
	}
}

// countInFlight counts the sales that have begun and not ended, as the replicas that live have told.
func countInFlight(ctx context.Context, client *redis.Client) (n int, err error) {
	state, err := dao.NewStore(client, "the soak", 1).Look(ctx)
	for _, replica := range state.Others {
		n += replica.Admitted
	}
	return n, err
}
