package soak

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redisserver"
)

// writeOrders writes orders into a run's ledger, as the shop does.
func writeOrders(t *testing.T, client *redis.Client, run string, ids ...string) {
	t.Helper()
	newest, _ := dao.OrdersKeys(run)
	for _, id := range ids {
		line, err := json.Marshal(history.Order{ID: id, RunID: run, Replica: "r1", After: 7, At: time.Unix(1, 0).UTC()})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.HSet(t.Context(), newest, id, line).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLedgersKeepDestroyedOrders(t *testing.T) {
	server := redisserver.Start(t)
	client := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}})
	defer client.Close()
	ledgers := newLedgers(client)
	read := func() map[string]int {
		t.Helper()
		if err := ledgers.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, entry := range ledgers.Entries {
			counts[entry.Run]++
			if entry.RunID != entry.Run || entry.After != 7 || !entry.At.Equal(time.Unix(1, 0)) {
				t.Errorf("got %+v, want the order as it was written", entry)
			}
		}
		return counts
	}
	var many []string
	for i := range 3 * batchSize {
		many = append(many, fmt.Sprint("order-", i))
	}
	writeOrders(t, client, "A", many...)
	writeOrders(t, client, "B", "x")
	if got := read(); got["A"] != 3*batchSize || got["B"] != 1 {
		t.Errorf("got %v orders by run, want all of both runs", got)
	}
	newest, older := dao.OrdersKeys("A") // when a ledger is full, its orders become the older ones
	if err := client.Rename(t.Context(), newest, older).Err(); err != nil {
		t.Fatal(err)
	}
	writeOrders(t, client, "A", "newest")
	writeOrders(t, client, "B", "y")
	if got := read(); got["A"] != 3*batchSize+1 || got["B"] != 2 {
		t.Errorf("got %v orders by run, want the new ones, too", got)
	}
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	writeOrders(t, client, "B", "late", "later") // as many as there were
	if got := read(); got["A"] != 3*batchSize+1 || got["B"] != 4 {
		t.Errorf("got %v orders by run, want the destroyed ones and the new ones", got)
	}

	newest, _ = dao.OrdersKeys("C")
	if err := client.HSet(t.Context(), newest, "z", "no JSON").Err(); err != nil {
		t.Fatal(err)
	}
	if err := ledgers.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "{inventory}:ledger:C: order z: ") {
		t.Errorf("got %v, want an error that names the ledger and the order", err)
	}
}

func TestReadSnapshotReturnsStateOfRun(t *testing.T) {
	server := redisserver.Start(t)
	client := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}})
	defer client.Close()
	if _, err := readSnapshot(t.Context(), client); err == nil {
		t.Error("got a snapshot without a run, want an error")
	}
	for _, err := range []error{
		client.HSet(t.Context(), dao.RunKey, "id", "A", "lock", "v9", "initial", 100, "sold", 3).Err(),
		client.Set(t.Context(), dao.InventoryKey, 98, 0).Err(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	writeOrders(t, client, "A", "x")
	newest, older := dao.OrdersKeys("A")
	if err := client.Rename(t.Context(), newest, older).Err(); err != nil {
		t.Fatal(err)
	}
	writeOrders(t, client, "A", "y")
	got, err := readSnapshot(t.Context(), client)
	if err != nil || got.ID != "A" || got.Lock != "v9" || got.Orders != 2 || got.Sold != 3 || got.Lost() != 1 {
		t.Errorf("got %+v, %v, want run A of v9 with two orders, three sold, one lost", got, err)
	}
	if err := client.Set(t.Context(), dao.InventoryKey, "many", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := readSnapshot(t.Context(), client); err == nil || !strings.Contains(err.Error(), "inventory of run A") {
		t.Errorf("got %v, want an error that names the stock", err)
	}
}
