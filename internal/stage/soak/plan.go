package soak

import (
	"math/rand/v2"
	"time"
)

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
