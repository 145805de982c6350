package strategy

// Update is how a sale updates the stock.
type Update int

// The ways to update.
const (
	// ReadModifyWrite is GET, think, SET: right only while nobody else does the same.
	ReadModifyWrite Update = iota
	// CheckAndSet is the same, but the SET fails if the stock has changed, and the sale starts again (optimistic).
	//
	// Adds: WATCH, MULTI, EXEC: the first to write wins (redis.io: Transactions, optimistic locking using check-and-set).
	// Costs: three round trips an attempt, and a connection for as long as it takes; more buyers need more attempts.
	// Still broken: attempts that conflict are wasted; there is no order, so the slow lose to the quick.
	CheckAndSet
	// Atomic reads and writes in one script (atomic).
	//
	// Adds: nothing can come between the read and the write (redis.io: Scripting with Lua, atomicity).
	// Costs: one script a sale.
	// Still broken: all the work of a sale must fit into the script; a payment, for example, does not.
	Atomic
)
