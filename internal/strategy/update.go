package strategy

// Update is how a sale updates the stock.
type Update int

// The kinds of update.
const (
	// ReadModifyWrite is GET, think, SET. It is correct only while no other sale does the same.
	ReadModifyWrite Update = iota
	// CheckAndSet is ReadModifyWrite whose SET fails if the stock has changed; the sale then starts again (optimistic).
	//
	// Adds: WATCH, MULTI, EXEC: the first to write wins (redis.io: Transactions, optimistic locking using check-and-set).
	// Costs: three round trips an attempt, and a connection for as long as it takes; more buyers need more attempts.
	// Still broken: an attempt that conflicts is wasted; there is no order, so slow sales lose to fast ones.
	CheckAndSet
	// Atomic reads and writes in one script (atomic).
	//
	// Adds: nothing can come between the read and the write (redis.io: Scripting with Lua, atomicity).
	// Costs: one script a sale.
	// Still broken: all the work of a sale must fit into the script; a payment, for example, does not.
	Atomic
	// LateCommit reads and thinks under the lock, and writes after it has unlocked (late-commit).
	//
	// Adds: what a transaction around the lock does, such as Spring's @Transactional on a method that locks inside: the commit comes last.
	// Costs: as ReadModifyWrite.
	// Still broken: the next holder reads before this sale has written, so updates are lost although nothing fails.
	LateCommit
	// Unchecked is Atomic, but does not check whether the order is known already (non-idempotent).
	//
	// Adds: nothing; it lacks the idempotency key (Stripe: Designing robust and predictable APIs with idempotency, 2017).
	// Costs: as Atomic.
	// Still broken: a client that gets no reply and sends the command again sells twice.
	Unchecked
	// Segmented is ReadModifyWrite in one of several segments of the stock, each under a lock of its own (segmented).
	//
	// Adds: as many sales at once as there are segments (lock striping, as in Java's ConcurrentHashMap before 8).
	// Costs: a sale that finds its segment sold out asks for the lock of the next; that all is sold out costs a lock and a read each.
	// Still broken: in each segment, as v11; what needs the whole stock needs every lock.
	Segmented
)

// IsExclusive reports whether only one sale at a time is meant to be in the critical section.
func (u Update) IsExclusive() bool { return u != CheckAndSet && u != Atomic && u != Unchecked }
