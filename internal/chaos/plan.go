package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Kind is what a fault does.
type Kind string

// The kinds.
const (
	KillReplica Kind = "kill-replica" // kill -9 of a replica
	StopReplica Kind = "stop-replica" // SIGSTOP, later SIGCONT
	HangRedis   Kind = "hang-redis"   // the same to Redis
	PauseRedis  Kind = "pause-redis"  // CLIENT PAUSE: Redis takes the commands, and answers later
	EmptyRedis  Kind = "empty-redis"  // Redis is killed, and starts again empty
	OutOfMemory Kind = "oom"          // Redis refuses to write
	Flush       Kind = "flushall"
	DeleteLock  Kind = "delete-lock" // DEL distributedLock, again and again
	CutClients  Kind = "cut-clients" // CLIENT KILL TYPE normal, again and again
	NewRun      Kind = "new-run"     // PUT /inventory, just before a Redis that hung goes on
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{
		KillReplica, StopReplica, HangRedis, PauseRedis, EmptyRedis, OutOfMemory, Flush, DeleteLock, CutClients, NewRun,
	}
}

// ParseKinds reads kinds with commas between them; nothing is all.
func ParseKinds(text string) ([]Kind, error) {
	if text == "" {
		return Kinds(), nil
	}
	var kinds []Kind
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(Kinds(), Kind(name)) {
			return nil, fmt.Errorf("there is no fault %q: want some of %v", name, Kinds())
		}
		kinds = append(kinds, Kind(name))
	}
	return kinds, nil
}

// Fault is one thing to be broken.
type Fault struct {
	Kind    Kind
	Replica int           // for faults of one replica: its index from 0
	For     time.Duration // from its beginning to its end; 0: no duration
}

const (
	warmUp    = 2 * time.Second // sales in it are not judged
	quiet     = 3 * time.Second // before the first fault, to measure the rate of sales
	rest      = 4 * time.Second // after each fault: sales must recover, and the next quiet begins
	heartbeat = 5 * time.Second // a replica without a sign of life for longer is forgotten, with its sales
)

// durations are how long a fault of that kind may last: shorter than the lock's expiry, longer, and longer than a heartbeat.
func durations(kind Kind) []time.Duration {
	switch kind {
	case StopReplica:
		return []time.Duration{Expiry * 2 / 5, 2 * Expiry, 4 * Expiry, heartbeat + time.Second}
	case HangRedis, PauseRedis:
		return []time.Duration{5 * time.Second}
	case NewRun:
		return []time.Duration{heartbeat + time.Second}
	case EmptyRedis:
		return []time.Duration{500 * time.Millisecond, 2 * time.Second}
	case OutOfMemory:
		return []time.Duration{2 * time.Second, 4 * time.Second}
	case DeleteLock, CutClients:
		return []time.Duration{time.Second}
	default:
		return []time.Duration{0}
	}
}

// NewPlan makes the faults of a session of about that duration: at least one, and each kind once before any is repeated. The same seed
// and kinds make the same plan.
func NewPlan(seed uint64, total time.Duration, kinds []Kind) []Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var plan []Fault
	for left := total - warmUp - quiet; ; {
		for _, i := range random.Perm(len(kinds)) {
			kind := kinds[i]
			choices := durations(kind)
			fault := Fault{Kind: kind, Replica: random.IntN(replicas), For: choices[random.IntN(len(choices))]}
			left -= fault.For + rest
			if left < 0 && len(plan) > 0 {
				return plan
			}
			plan = append(plan, fault)
		}
	}
}

// destroys says whether a fault takes the ledgers away.
func (k Kind) destroys() bool { return k == EmptyRedis || k == Flush }

// fallsOnReplica says whether a fault leaves the other replicas unharmed, so that they must go on selling before its end.
func (k Kind) fallsOnReplica() bool { return k == KillReplica || k == StopReplica }

// opens says whether a lock that is not fenced may lose updates by this fault: the lock ends while its holder goes on. A lock that
// is renewed every third of its expiry may have two thirds left when the fault begins.
func (f Fault) opens(expiry time.Duration) bool {
	switch f.Kind {
	case DeleteLock:
		return true
	case StopReplica, HangRedis, PauseRedis, NewRun:
		return f.For > expiry*2/3
	default:
		return false
	}
}
