package soak

import (
	"math/rand/v2"
	"time"
)

// Fault is a planned fault.
type Fault struct {
	Kind     Kind
	Replica  int           // 0-based index of the replica; only for faults of one replica
	Duration time.Duration // duration; 0: momentary
}

const (
	warmUp       = 2 * time.Second // initial period whose sales are not judged
	quietTime    = 3 * time.Second // fault-free time before the first fault, to measure the rate of sales
	recoveryTime = 4 * time.Second // time after each fault in which sales must recover
)

// NewPlan returns the faults of a session that takes about total. There is at least one fault, and each kind occurs once before any is
// repeated. The same arguments give the same plan.
func NewPlan(seed uint64, total time.Duration, kinds []Kind, replicas int) []Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var plan []Fault
	rounds := 0
	for left := total - warmUp - quietTime; ; rounds++ {
		for _, i := range random.Perm(len(kinds)) {
			choices := kinds[i].effect().durations
			fault := Fault{Kind: kinds[i], Replica: random.IntN(replicas), Duration: choices[rounds%len(choices)]}
			left -= fault.Duration + recoveryTime
			if left < 0 && len(plan) > 0 {
				return plan
			}
			plan = append(plan, fault)
		}
	}
}

// mayLoseUpdate reports whether this fault may lose updates under a lock that is not fenced: the lock ends while its holder goes on. The
// fault must last longer than two thirds of the expiry, because a lock that is renewed every third of its expiry has at least that much
// left when the fault begins. A renewal that is not suspended keeps the lock, or notices its loss.
func (f Fault) mayLoseUpdate(lock string) bool {
	effect := f.Kind.effect()
	if effect.deletesLock {
		return true
	}
	outlastsLock := f.Duration > expiry*2/3
	return outlastsLock && (effect.suspends || effect.delaysWrite && !isRenewed(lock))
}

// mustLoseUpdate reports whether this fault must lose an update: a sale's write comes after the expiry of its lock, when others have
// sold.
func (f Fault) mustLoseUpdate(lock string) bool {
	return f.Kind.effect().delaysWrite && !isFenced(lock) && f.mayLoseUpdate(lock) && f.Duration >= 2*expiry
}
