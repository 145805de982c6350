package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"
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

// Usual are the kinds that a soak has if nobody says which.
func Usual() []Kind {
	return []Kind{
		KillReplica, StopReplica, CutReplica, StallReplica, LateWrite, StolenLock, LoseReply, LoseRequest, BuyersLeave,
		HangRedis, PauseRedis, RestartRedis,
	}
}

// Kinds are all of them.
func Kinds() []Kind {
	return append(Usual(), EmptyRedis, OutOfMemory, Flush, DeleteLock, CutClients, NewRun)
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

const (
	shorter   = Expiry * 2 / 5 // than the lock's expiry
	longer    = 2 * Expiry
	heartbeat = 5 * time.Second // a replica without a sign of life for longer is forgotten, with its sales
)

// durations are how long a fault of that kind may last.
func durations(kind Kind) []time.Duration {
	switch kind {
	case StopReplica:
		return []time.Duration{longer, shorter, 4 * Expiry, heartbeat + time.Second}
	case CutReplica, StallReplica, LateWrite:
		return []time.Duration{longer, shorter}
	case StolenLock:
		return []time.Duration{longer}
	case HangRedis, PauseRedis:
		return []time.Duration{5 * time.Second}
	case NewRun:
		return []time.Duration{heartbeat + time.Second}
	case EmptyRedis, RestartRedis:
		return []time.Duration{500 * time.Millisecond, 2 * time.Second}
	case OutOfMemory:
		return []time.Duration{2 * time.Second, 4 * time.Second}
	case DeleteLock, CutClients, LoseReply, LoseRequest, BuyersLeave:
		return []time.Duration{time.Second}
	default:
		return []time.Duration{0}
	}
}

// destroys says whether a fault takes the ledgers away.
func (k Kind) destroys() bool { return k == EmptyRedis || k == Flush }

// forgets says whether orders may be gone after a fault, so that the ledgers have to be read before.
func (k Kind) forgets() bool { return k.destroys() || k == OutOfMemory || k == NewRun }

// fallsOnReplica says whether a fault leaves the other replicas unharmed, so that they must go on selling before its end.
func (k Kind) fallsOnReplica() bool {
	return k == KillReplica || k == StopReplica || k == CutReplica || k == StallReplica
}

// hasVictim says whether a fault is of one replica alone.
func (k Kind) hasVictim() bool {
	return k.fallsOnReplica() || k == LateWrite || k == StolenLock || k == LoseReply || k == LoseRequest
}

// leavesLock says whether a fault may leave a lock behind that nobody releases, until it expires.
func (k Kind) leavesLock() bool { return k == LoseReply || k == LoseRequest || k == BuyersLeave }
