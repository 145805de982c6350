package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// page is how many orders are read at once, so that the buyers do not wait for the reader.
const page = 1000

// Ledgers are all orders that were ever read in any run's ledger, including those that Redis has lost since.
type Ledgers struct {
	client *redis.Client
	orders map[string]map[string]history.Order // by run and id
	read   map[string]int64                    // by key: how many orders it had at the last reading
}

// NewLedgers reads the ledgers in client's Redis.
func NewLedgers(client *redis.Client) *Ledgers {
	return &Ledgers{client: client, orders: map[string]map[string]history.Order{}, read: map[string]int64{}}
}

// Entries gives the orders read so far.
func (l *Ledgers) Entries() []Entry {
	var entries []Entry
	for run, orders := range l.orders {
		for _, order := range orders {
			entries = append(entries, Entry{Run: run, Order: order})
		}
	}
	return entries
}

// Forget notes that Redis lost its ledgers: a ledger with as many orders as before is then another one.
func (l *Ledgers) Forget() { clear(l.read) }

// Read reads every ledger there is. An order that was written before it began is among the entries afterwards.
func (l *Ledgers) Read(ctx context.Context) error {
	every, _ := dao.OrdersKeys("*")
	keys := l.client.Scan(ctx, 0, every, page).Iterator()
	for keys.Next(ctx) {
		if err := l.readOne(ctx, keys.Val()); err != nil {
			return fmt.Errorf("reading %s: %w", keys.Val(), err)
		}
	}
	return keys.Err()
}

func (l *Ledgers) readOne(ctx context.Context, key string) error {
	run := runOf(key)
	count, err := l.client.HLen(ctx, key).Result()
	if err != nil || count == l.read[key] {
		return err
	}
	if l.orders[run] == nil {
		l.orders[run] = map[string]history.Order{}
	}
	fields := l.client.HScan(ctx, key, 0, "", page).Iterator()
	for fields.Next(ctx) {
		id := fields.Val()
		if !fields.Next(ctx) {
			break
		}
		if _, known := l.orders[run][id]; known {
			continue
		}
		var order history.Order
		if err := json.Unmarshal([]byte(fields.Val()), &order); err != nil {
			return fmt.Errorf("order %s: %w", id, err)
		}
		if order.ID != id {
			return fmt.Errorf("order %s is kept as %s", order.ID, id)
		}
		l.orders[run][id] = slim(order)
	}
	l.read[key] = count
	return fields.Err()
}

// runOf reads the run's id in the key of its newest orders, or of those before.
func runOf(key string) string {
	prefix, older := dao.OrdersKeys("")
	return same(strings.TrimSuffix(strings.TrimPrefix(key, prefix), strings.TrimPrefix(older, prefix)))
}

// slim keeps of an order only what is judged.
func slim(order history.Order) history.Order {
	order.RunID, order.Replica = same(order.RunID), same(order.Replica)
	order.Lock, order.Owner = "", ""
	return order
}

// Look gives the current run, all of it at one moment: a sale changes it in one step.
func (l *Ledgers) Look(ctx context.Context) (Look, error) {
	for {
		id, err := l.client.HGet(ctx, dao.RunKey, "id").Result()
		if err != nil {
			return Look{}, fmt.Errorf("reading %s: %w", dao.RunKey, err)
		}
		asked := time.Now()
		var run *redis.MapStringStringCmd
		var stock *redis.StringCmd
		var kept, before *redis.IntCmd
		_, err = l.client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
			newest, older := dao.OrdersKeys(id)
			run, stock = tx.HGetAll(ctx, dao.RunKey), tx.Get(ctx, dao.InventoryKey)
			kept, before = tx.HLen(ctx, newest), tx.HLen(ctx, older)
			return nil
		})
		if err != nil {
			return Look{}, fmt.Errorf("looking at the run: %w", err)
		}
		fields := run.Val()
		if fields["id"] != id {
			continue // a new run began meanwhile
		}
		number := func(name, text string) (n int64) {
			n, wrong := strconv.ParseInt(text, 10, 64)
			if wrong != nil {
				err = errors.Join(err, fmt.Errorf("%s of run %s: %w", name, id, wrong))
			}
			return n
		}
		look := Look{Asked: asked, At: time.Now(), Kept: kept.Val() + before.Val(), Tally: history.Tally{
			Run:       history.Run{ID: id, Lock: fields["lock"], Initial: number("initial", fields["initial"])},
			Remaining: number(dao.InventoryKey, stock.Val()), Sold: number("sold", fields["sold"]),
		}}
		return look, err
	}
}

// InFlight counts the sales that have begun and not ended, as the shop knows them.
func (l *Ledgers) InFlight(ctx context.Context) (int64, error) {
	return l.client.HLen(ctx, "{inventory}:in_flight").Result()
}
