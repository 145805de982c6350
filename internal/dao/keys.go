package dao

// The keys. The first two are the original write-up's; the rest lie in the same slot of a Redis Cluster as the stock.
const (
	InventoryKey = "inventory"             // the stock
	RunKey       = "{inventory}:run"       // hash: id, lock, initial, written, max_in_flight
	fenceKey     = "{inventory}:fence"     // the largest fencing token seen
	inFlightKey  = "{inventory}:in_flight" // hash: sale -> instance
	replicasKey  = "{inventory}:replicas"  // sorted set: instance by the time at which it counts as dead, in ms of Redis's clock

	// DoorKey is the key of the lock that closes the door while a run is changed.
	DoorKey = "{inventory}:door"
)

// OrdersKey is the list of a run's orders, JSON each.
func OrdersKey(runID string) string { return "{inventory}:orders:" + runID }
