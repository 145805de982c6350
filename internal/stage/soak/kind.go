package soak

import (
	"fmt"
	"math/rand/v2"
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

// Fault is one thing to be broken.
type Fault struct {
	Kind    Kind
	Replica int           // for faults of one replica: its index from 0
	For     time.Duration // from its beginning to its end; 0: no duration
}

const (
	warmUp = 2 * time.Second // sales in it are not judged
	quiet  = 3 * time.Second // before the first fault, to measure the rate of sales
	rest   = 4 * time.Second // after each fault: sales must recover, and the next quiet begins
)

// NewPlan makes the faults of a session of about that duration, on so many replicas: at least one, and each kind once before any is
// repeated. The same arguments make the same plan.
func NewPlan(seed uint64, total time.Duration, kinds []Kind, replicas int) []Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var plan []Fault
	rounds := 0
	for left := total - warmUp - quiet; ; rounds++ {
		for _, i := range random.Perm(len(kinds)) {
			choices := kinds[i].effect().lasts
			fault := Fault{Kind: kinds[i], Replica: random.IntN(replicas), For: choices[rounds%len(choices)]}
			left -= fault.For + rest
			if left < 0 && len(plan) > 0 {
				return plan
			}
			plan = append(plan, fault)
		}
	}
}

// opens reports whether updates may be lost by this fault under a lock that is not fenced: the lock ends while its holder goes on. A lock
// that is renewed every third of its expiry may have two thirds left when the fault begins.
func (f Fault) opens(lock string, expiry time.Duration) bool {
	switch f.Kind {
	case DeleteLock:
		return true
	case LateWrite, StolenLock: // the renewal goes on: it keeps the lock, or sees that it is gone
		return !renewed(lock) && f.For > expiry*2/3
	case StopReplica, StallReplica, HangRedis, PauseRedis, NewRun:
		return f.For > expiry*2/3
	default:
		return false
	}
}

// canLose reports whether an update must be lost by this fault: a sale's write comes after the expiry of its lock, and others have sold
// meanwhile.
func (f Fault) canLose(lock string, expiry time.Duration) bool {
	late := f.Kind == StallReplica || f.Kind == LateWrite || f.Kind == StolenLock
	return late && !fenced(lock) && f.opens(lock, expiry) && f.For >= 2*expiry
}
