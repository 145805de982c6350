package strategy

// Capabilities are what a lock does beyond keeping others out. The conformance tests hold each row to what it says here, and also to
// what it does not say: that is a flaw, and it has to show.
type Capabilities struct {
	Open             bool // everybody gets it, though its Scope promises otherwise
	Expires          bool // it goes away by itself when its holder does not come back
	ExpiresAtOnce    bool // and Redis knows of its expiry from the first command on
	ChecksOwner      bool // whoever is not its holder cannot release it, unless it changes hands within Unlock
	ChecksAtomically bool // nor then
	Reentrant        bool // a nested call of its holder gets it, too
	CountsInRedis    bool // how deep the calls are nested
	Renewed          bool // it outlives its expiry while the work goes on; losing it ends the context of the work
	Fenced           bool // each holder has a larger token than the one before
	InLine           bool // the sales of a process wait in a local queue
	HandsOn          bool // and hand the lock to the next without a command
	InOrder          bool // who asks first gets it first, but for a few hand-overs within a process
	HandsOver        bool // a process gives the turn to the next one that waits, and wakes it
	Cached           bool // a process keeps it until another asks for it
	TakesBack        bool // it does not leave behind what a lost reply may have obtained
	Terse            bool // its Unlock says ErrNotOwner of a lock that expired, too: the reply does not tell the two apart
}
