package dao

import (
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/redis/meaning"
)

// The keys. The first two are the original write-up's; the rest lie in the same slot of a Redis Cluster as the stock.
const (
	InventoryKey = meaning.StockKey
	RunKey       = "{inventory}:run"       // hash: id, lock, initial, written, sold, max_in_flight, settings, tuning, forgot
	pastRunsKey  = "{inventory}:runs_over" // list: ids of the runs whose orders are kept, newest first
	fenceKey     = "{inventory}:fence"     // the largest fencing token seen
	replicasKey  = "{inventory}:replicas"  // hash: instance -> when it counts as dead, in ms of Redis's clock, and what it told last, in JSON
	readyKey     = "{inventory}:ready"     // string: what a probe wrote last, an instance

	// callChannel is where a replica asks the others to tell at once what they are doing.
	callChannel = "{inventory}:call"

	// BarrierKey is the key of the lock that is held while a run is changed.
	BarrierKey = "{inventory}:barrier"
)

// segmentPrefix is what the keys of the stock's segments begin with.
const segmentPrefix = meaning.SegmentPrefix

// SegmentKeys returns the key of a segment of the stock, counted from 1, and that of the largest fencing token seen there.
func SegmentKeys(segment int) (stock, fence string) {
	stock = segmentPrefix + strconv.Itoa(segment)
	return stock, stock + ":fence"
}

// segmentsOf returns the keys of so many segments.
func segmentStockKeys(segments int) []string {
	keys := make([]string, segments)
	for i := range keys {
		keys[i], _ = SegmentKeys(i + 1)
	}
	return keys
}

// ordersPrefix is what the keys of a run's orders begin with.
const ordersPrefix = "{inventory}:ledger:"

// OrdersKeys returns the keys of the two hashes of a run's orders, id -> JSON: of the newest ones, and of those before.
func OrdersKeys(runID string) (newest, older string) {
	newest = ordersPrefix + runID
	return newest, newest + ":older"
}

// IsKey reports whether a key is the stock's, the ledger's, or another of those above.
func IsKey(name string) bool {
	all := []string{InventoryKey, RunKey, pastRunsKey, fenceKey, replicasKey, readyKey, BarrierKey}
	return slices.Contains(all, name) || strings.HasPrefix(name, ordersPrefix) || strings.HasPrefix(name, segmentPrefix)
}
