package strategy

// Capabilities says what a lock does beyond mutual exclusion. The conformance tests check both ways: a capability that is set must hold,
// and one that is not set must be seen to be missing.
type Capabilities struct {
	Open             bool // anybody can take the lock while it is held, although Scope promises otherwise
	Expires          bool // the lock of a holder that died is released by its expiry
	ExpiresAtOnce    bool // the command that takes the lock sets its expiry, too
	ChecksOwner      bool // Unlock compares the owner before it deletes; the lock may change hands between the two
	ChecksAtomically bool // Unlock compares and deletes in one step
	Reentrant        bool // a nested call of the holder gets the lock
	CountsInRedis    bool // the depth of nested calls is counted in Redis
	Renewed          bool // the expiry is extended while the work goes on; losing the lock cancels the context of the work
	Fenced           bool // each holder has a larger fencing token than the one before
	InLine           bool // sales of one process wait in a local queue
	HandsOn          bool // a sale hands the lock to the next sale of its process without a command
	InOrder          bool // first come, first served, except for a bounded number of hand-offs within a process
	HandsOver        bool // Unlock gives the lock to the next waiting process, and wakes it
	Cached           bool // a process keeps the lock until another process asks for it
	TakesBack        bool // Lock releases what a command with a lost reply may have obtained
	Terse            bool // Unlock returns ErrNotOwner also for an expired lock, because the reply does not tell the two apart
}
