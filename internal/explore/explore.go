// Package explore runs the real code of a lock, under the real sale, in every order that its Redis commands can take.
//
// A few actors sell one piece each. Their commands stop at a hook of the client, their goroutines in Clock.Wait, and a
// scheduler chooses what happens next: whose command is answered, that time passes, or that something goes wrong. It tries
// every choice, shortest schedules first, so what it finds broken is broken in the shortest way there is. Models: CHESS
// (Musuvathi et al., OSDI 2008), loom, shuttle.
package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/history"
	"lockstep/internal/strategy"
)

// Scenario says who does what, and what may go wrong.
type Scenario struct {
	Actors   int           // sales, one each
	Replicas int           // processes they are in; 0: one each
	Try      int           // how many of them try once, and do not wait
	Nested   int           // how many nested calls take the lock again
	Nodes    int           // masters that the lock is on; 0: three, if it is on any
	Work     time.Duration // between reading the stock and writing it
	Skew     time.Duration // each process's clock is as much ahead of the one before
	Faults   Faults
}

// MaxActors is as many as there are letters for.
const MaxActors = 26

// MaxNested is as deep as calls may be nested.
const MaxNested = 100

// Faults are budgets: how often each of these may happen in one schedule.
type Faults struct {
	Expiry    int // time passes a key's expiry while somebody could still move
	Slow      int // time passes to the next timer while somebody could still move
	Pause     int // a process stops, timers and all, until it resumes
	Crash     int // a process dies, before or after a command took effect
	LostReply int // a command takes effect, and nobody learns of it
	Cancel    int // a client goes away
	LostWake  int // a hint that should wake a waiter never comes

	NodeCrash   int // a node refuses connections from then on
	NodeHang    int // a node does what it is told from then on, but does not answer
	NodeRestart int // a node forgets what it held
}

// fault names a budget as people write it.
type fault struct {
	name   string
	budget *int
}

func (f *Faults) table() []fault {
	return []fault{
		{"expiry", &f.Expiry}, {"slow", &f.Slow}, {"pause", &f.Pause}, {"crash", &f.Crash}, {"lost-reply", &f.LostReply}, {"cancel", &f.Cancel},
		{"lost-wake", &f.LostWake}, {"node-crash", &f.NodeCrash}, {"node-hang", &f.NodeHang}, {"node-restart", &f.NodeRestart},
	}
}

// FaultNames lists the faults there are.
func FaultNames() []string {
	var names []string
	for _, f := range new(Faults).table() {
		names = append(names, f.name)
	}
	return names
}

// String writes the budgets as "expiry=1,crash=1"; "" if there are none.
func (f Faults) String() string {
	var parts []string
	for _, named := range f.table() {
		if *named.budget > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", named.name, *named.budget))
		}
	}
	return strings.Join(parts, ",")
}

// Map gives the budgets by name, those of nothing too.
func (f Faults) Map() map[string]int {
	budgets := map[string]int{}
	for _, named := range f.table() {
		budgets[named.name] = *named.budget
	}
	return budgets
}

// ParseFaults reads what String writes.
func ParseFaults(text string) (Faults, error) {
	var f Faults
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		if part == "" && text == "" {
			break
		}
		name, number, _ := strings.Cut(part, "=")
		budget, err := strconv.Atoi(number)
		if err != nil || budget < 0 {
			return Faults{}, fmt.Errorf("faults: %q; it takes NAME=TIMES, as in expiry=1,crash=1", part)
		}
		i := slices.Index(FaultNames(), name)
		if i < 0 {
			return Faults{}, fmt.Errorf("faults: there is no %q; there are %s", name, strings.Join(FaultNames(), ", "))
		}
		if given[name] {
			return Faults{}, fmt.Errorf("faults: %s is given twice", name)
		}
		given[name] = true
		*f.table()[i].budget = budget
	}
	return f, nil
}

// ofNodes reports whether any of these happens to a node.
func (f Faults) ofNodes() bool { return f.NodeCrash+f.NodeHang+f.NodeRestart > 0 }

// MaxNodes is as many as a lock may be on.
const MaxNodes = 9

// Check says what is wrong with a scenario, whatever the lock.
func (s Scenario) Check() error {
	switch {
	case s.Nodes < 0 || s.Nodes > MaxNodes:
		return fmt.Errorf("nodes: %d; it takes 1 to %d, or 0 for three", s.Nodes, MaxNodes)
	case s.Actors < 1 || s.Actors > MaxActors:
		return fmt.Errorf("actors: %d; it takes 1 to %d", s.Actors, MaxActors)
	case s.Replicas < 0 || s.Replicas > s.Actors:
		return fmt.Errorf("replicas: %d; it takes 1 to %d, as many as there are actors, or 0 for one each", s.Replicas, s.Actors)
	case s.Try < 0 || s.Try > s.Actors:
		return fmt.Errorf("try: %d; it takes 0 to %d, as many as there are actors", s.Try, s.Actors)
	case s.Nested < 0 || s.Nested > MaxNested:
		return fmt.Errorf("nested: %d; it takes 0 to %d", s.Nested, MaxNested)
	case s.Work < 0 || s.Work >= forever:
		return fmt.Errorf("work: %v; it takes 0 to %v", s.Work, forever)
	case s.Skew < 0 || s.Skew >= forever:
		return fmt.Errorf("skew: %v; it takes 0 to %v", s.Skew, forever)
	}
	return nil
}

// CheckFor says what is wrong with a scenario for this lock.
func (s Scenario) CheckFor(strategy strategy.Strategy) error {
	if !strategy.OnNodes && (s.Nodes > 0 || s.Faults.ofNodes()) {
		return fmt.Errorf("nodes: %s is on none; nodes, node-crash, node-hang and node-restart are for locks on several masters, such as v9",
			strategy.Name)
	}
	return s.Check()
}

// apart reports whether every actor is a process of its own.
func (s Scenario) apart() bool { return s.Processes() == s.Actors }

// alike reports whether it makes no difference which process is which.
func (s Scenario) alike() bool { return s.apart() && s.Skew == 0 }

// Processes is how many there are.
func (s Scenario) Processes() int {
	if s.Replicas == 0 {
		return s.Actors
	}
	return s.Replicas
}

// Bounds limit an exploration. One that was hit makes the verdict unknown.
type Bounds struct {
	Schedules int           // 0: no limit
	Memory    uint64        // bytes of heap, of the whole process; 0: no limit
	Time      time.Duration // 0: no limit
	Workers   int           // 0: as many as there are cores

	Patience time.Duration // real time without a step, after which it counts as blind; 0: 20s

	// For tests of the explorer itself: to explore again what a cut says is known already.
	EveryState, EverySymmetry bool
}

// String writes a scenario as the flags of the command line; "" if it is two actors and nothing else.
func (s Scenario) String() string {
	var flags []string
	flag := func(name string, value any, usual bool) {
		if !usual {
			flags = append(flags, fmt.Sprintf("--%s %v", name, value))
		}
	}
	flag("actors", s.Actors, s.Actors == 2)
	flag("replicas", s.Replicas, s.Replicas == 0)
	flag("try", s.Try, s.Try == 0)
	flag("nested", s.Nested, s.Nested == 0)
	flag("work", s.Work, s.Work == 0)
	flag("skew", s.Skew, s.Skew == 0)
	flag("nodes", s.Nodes, s.Nodes == 0)
	flag("faults", s.Faults, s.Faults == Faults{})
	return strings.Join(flags, " ")
}

// Verdict is what an exploration says of the properties it looked at.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"   // in every schedule
	Broken  Verdict = "broken"  // in one, at least
	Unknown Verdict = "unknown" // a bound was hit before all were seen
)

// Result is what an exploration found.
type Result struct {
	Lock     string
	Scenario Scenario

	Schedules int // runs of the code from its start, each to a step that no other took
	States    int // that differ
	Depth     int // steps of the longest schedule
	Seconds   float64
	Complete  bool   // nothing is left to explore
	Bound     string // which bound was hit, "" for none

	// Broken has the shortest schedule that breaks each property that was found broken, by the order of Properties.
	Broken []Counterexample
}

// Counterexample is the shortest schedule that breaks a property.
type Counterexample struct {
	Property Property
	Length   int    // steps
	Schedule string // for Replay
	Trace    history.Trace
}

// Verdict says what was found.
func (r Result) Verdict() Verdict {
	switch {
	case len(r.Broken) > 0:
		return Broken
	case r.Complete:
		return Holds
	default:
		return Unknown
	}
}
