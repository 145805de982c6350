package lab

import (
	"context"
	"slices"
)

// Place is where labs are run: a machine, or a browser's tab.
type Place struct {
	Replicas func() Replicas // for one run
	Redis    string          // where an embedded one listens
	Lacks    []Need          // what it does not have
}

// Replicas are where the replicas of one run come from.
type Replicas interface {
	// Start starts so many replicas named r1, r2, …, each by what command gives for its name: a command of the program, and its settings as
	// flags, without an address of its own. When it returns their addresses, all are up.
	Start(ctx context.Context, n int, command func(name string) []string) (addresses map[string]string, err error)
	Kill(name string) error // at once, whatever it does
	Stop(name string) error // its timers, too
	Resume(name string) error
	End() error // ends them all
}

// Need is what a lab needs and not every place has.
type Need string

// The needs.
const (
	Signals   Need = "signals"
	RealRedis Need = "real-redis"
)

// Needs gives what the lab needs.
func (l Lab) Needs() (all []Need) {
	if l.Unix {
		all = append(all, Signals)
	}
	if l.Real {
		all = append(all, RealRedis)
	}
	return all
}

// FitsInto fails if a place does not have what the lab needs.
func (l Lab) FitsInto(p Place) error {
	for _, need := range l.Needs() {
		if slices.Contains(p.Lacks, need) {
			return map[Need]error{Signals: ErrNoSignals, RealRedis: ErrNoRedis}[need]
		}
	}
	return nil
}
