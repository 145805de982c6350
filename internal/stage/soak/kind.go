package soak

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a fault does.
type Kind string

// The kinds that a soak has if nobody says which: whatever they do, no order is lost.
const (
	KillReplica  Kind = "kill-replica"  // kill -9 of a replica
	StopReplica  Kind = "stop-replica"  // SIGSTOP, later SIGCONT
	CutReplica   Kind = "cut-replica"   // a replica cannot reach Redis: its connections end
	StallReplica Kind = "stall-replica" // from a sale's write on, no command of a replica reaches Redis; later all of them do
	LateWrite    Kind = "late-write"    // a sale's write reaches Redis late
	StolenLock   Kind = "stolen-lock"   // the lock is deleted while the reply to its holder's read is held back
	LoseReply    Kind = "lose-reply"    // replies to writes and to commands of the lock are lost, again and again
	LoseRequest  Kind = "lose-request"  // so are these commands themselves
	BuyersLeave  Kind = "buyers-leave"  // a third of the buyers goes away, again and again
	HangRedis    Kind = "hang-redis"    // SIGSTOP of Redis, later SIGCONT
	PauseRedis   Kind = "pause-redis"   // CLIENT PAUSE: Redis takes the commands, and answers later
	RestartRedis Kind = "restart-redis" // Redis is killed, and starts again with what it wrote
)

// The kinds that are only had by name: they destroy ledgers, end runs, or take the lock away.
const (
	EmptyRedis  Kind = "empty-redis" // Redis is killed, and starts again empty
	OutOfMemory Kind = "oom"         // Redis refuses to write
	Flush       Kind = "flushall"
	DeleteLock  Kind = "delete-lock" // DEL distributedLock, again and again
	CutClients  Kind = "cut-clients" // CLIENT KILL TYPE normal, again and again
	NewRun      Kind = "new-run"     // PUT /inventory, just before a Redis that hung goes on
)

// Usual gives the kinds that a soak has if nobody says which.
func Usual() []Kind { return Kinds()[:slices.Index(Kinds(), EmptyRedis)] }

// Kinds gives all of them.
func Kinds() (all []Kind) {
	for _, e := range effects() {
		all = append(all, e.kind)
	}
	return all
}

// ParseKinds reads kinds with commas between them; nothing is the usual ones.
func ParseKinds(text string) ([]Kind, error) {
	if text == "" {
		return Usual(), nil
	}
	var kinds []Kind
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(Kinds(), Kind(name)) {
			return nil, fmt.Errorf("%w: %q; want some of %v", ErrNoFault, name, Kinds())
		}
		kinds = append(kinds, Kind(name))
	}
	return kinds, nil
}

// effect gives what a kind does.
func (k Kind) effect() effect {
	all := effects()
	if i := slices.IndexFunc(all, func(e effect) bool { return e.kind == k }); i >= 0 {
		return all[i]
	}
	return effect{}
}

// isDestructive reports whether a fault takes the ledgers away.
func (k Kind) isDestructive() bool { return k == EmptyRedis || k == Flush }

// forgets reports whether orders may be gone after a fault, so that the ledgers have to be read before.
func (k Kind) forgets() bool { return k.isDestructive() || k == OutOfMemory || k == NewRun }

// canOrphanLock reports whether a fault may leave a lock behind that nobody releases, until it expires.
func (k Kind) canOrphanLock() bool { return k == LoseReply || k == LoseRequest || k == BuyersLeave }
