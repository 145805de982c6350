package dao

import (
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/redis/meaning"
)

// Keys and channels of the shop in Redis. All lie in the same Redis Cluster slot as the stock.
const (
	InventoryKey = meaning.StockKey        // string: the stock
	RunKey       = "{inventory}:run"       // hash: id, lock, initial, written, sold, max_in_flight, settings, tuning, forgot
	pastRunsKey  = "{inventory}:runs_over" // list: ids of the runs whose orders are kept, newest first
	fenceKey     = "{inventory}:fence"     // string: the largest fencing token seen
	replicasKey  = "{inventory}:replicas"  // hash: instance -> heartbeat; see parseReplica
	readyKey     = "{inventory}:ready"     // string: the instance that last probed whether Redis accepts writes

	// heartbeatRequestChannel is the channel on which a replica asks the others for an immediate heartbeat.
	heartbeatRequestChannel = "{inventory}:call"

	// BarrierKey is the key of the lock held while the run is changed.
	BarrierKey = "{inventory}:barrier"
)

// segmentPrefix is the common prefix of the keys of the stock's segments.
const segmentPrefix = meaning.SegmentPrefix

// SegmentKeys returns the key of a stock segment, counted from 1, and the key of the largest fencing token seen there.
func SegmentKeys(segment int) (stock, fence string) {
	stock = segmentPrefix + strconv.Itoa(segment)
	return stock, stock + ":fence"
}

// segmentStockKeys returns the stock keys of segments 1 to n.
func segmentStockKeys(segments int) []string {
	keys := make([]string, segments)
	for i := range keys {
		keys[i], _ = SegmentKeys(i + 1)
	}
	return keys
}

// ordersPrefix is the common prefix of the keys of a run's orders; the run's id follows.
const ordersPrefix = "{inventory}:ledger:"

// OrdersKeys returns the keys of the two hashes (order id -> JSON) with a run's orders: the newest ones, and the older ones.
func OrdersKeys(runID string) (newest, older string) {
	newest = ordersPrefix + runID
	return newest, newest + ":older"
}

// IsKey reports whether a key belongs to the shop: the stock, a segment, the ledger, or one of the shop's other keys.
func IsKey(name string) bool {
	all := []string{InventoryKey, RunKey, pastRunsKey, fenceKey, replicasKey, readyKey, BarrierKey}
	return slices.Contains(all, name) || strings.HasPrefix(name, ordersPrefix) || strings.HasPrefix(name, segmentPrefix)
}
