package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lockstep/internal/explore/fault"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
)

// What all schedules have in common.
const (
	InitialStock     = 100                   // before the first sale
	TTL              = 10 * time.Second      // a lock's expiry
	PollInterval     = 20 * time.Millisecond // between two attempts of a waiter
	Forever          = 1000 * time.Hour      // as long as a wait may take; no time brings it, only the fault timeout
	defaultOvertakes = 1                     // a process may hand the lock over within itself so often, here, while another one waits
)

// The largest values that a scenario takes.
const (
	MaxActors = 26  // as many as there are letters for
	MaxNested = 100 // calls inside each other
	MaxNodes  = 9   // masters of one lock
	MaxSales  = 100 // of one actor
)

// Scenario says who does what, and what may go wrong.
type Scenario struct {
	Actors      int           // buyers
	Sales       int           // of each of them, one after the other; 0: one
	Replicas    int           // processes they are in; 0: one each
	Try         int           // how many of them try once, and do not wait
	Nested      int           // how many nested calls take the lock again
	Nodes       int           // masters that the lock is on; 0: three, if it is on any
	Overtakes   int           // how often a sale may be overtaken by others that asked after it; 0: once
	Work        time.Duration // between reading the stock and writing it
	Skew        time.Duration // clocks are off Redis's: the first process's behind by this, the second's ahead, the third's right, and so on
	FreedWithin time.Duration // the lock of a holder that died has to be free; 0: it may take any time that ends
	Faults      fault.Budget

	Language language.Language // in which it is told of; "": English. No flag of String
}

// Say gives a sentence in the scenario's language. Both forms are formats, for the same values.
func (s Scenario) Say(english, chinese string, values ...any) string {
	return s.Language.Say(english, chinese, values...)
}

// Check says what is wrong with a scenario, whatever the lock.
func (s Scenario) Check() error {
	for _, number := range []struct {
		is, least, most int
		says            string
	}{
		{s.Nodes, 0, MaxNodes, "nodes: %d; it takes 1 to %d, or 0 for three"},
		{s.Actors, 1, MaxActors, "actors: %d; it takes 1 to %d"},
		{s.Replicas, 0, s.Actors, "replicas: %d; it takes 1 to %d, as many as there are actors, or 0 for one each"},
		{s.Try, 0, s.Actors, "try: %d; it takes 0 to %d, as many as there are actors"},
		{s.Sales, 0, MaxSales, "sales: %d; it takes 1 to %d"},
		{s.Overtakes, 0, MaxActors * MaxSales, "overtakes: %d; it takes 1 to %d"},
		{s.Nested, 0, MaxNested, "nested: %d; it takes 0 to %d"},
	} {
		if number.is < number.least || number.is > number.most {
			return fmt.Errorf(number.says, number.is, number.most)
		}
	}
	for _, time := range []struct {
		is   time.Duration
		name string
	}{{s.Work, "work"}, {s.FreedWithin, "freed-within"}, {s.Skew, "skew"}} {
		if time.is < 0 || time.is >= Forever {
			return fmt.Errorf("%s: %v; it takes 0 to less than %.0fh", time.name, time.is, Forever.Hours())
		}
	}
	return s.Faults.Check()
}

// CheckFor says what is wrong with a scenario for this lock.
func (s Scenario) CheckFor(strategy strategy.Strategy) error {
	if !strategy.OnNodes && (s.Nodes > 0 || s.Faults.HasNodeFaults()) {
		return fmt.Errorf("nodes: %s is on none; nodes, node-crash, node-hang and node-restart are for locks on several masters, such as redlock",
			strategy.Name)
	}
	return s.Check()
}

// SalesEach returns how many sales an actor makes.
func (s Scenario) SalesEach() int { return max(s.Sales, 1) }

// MostOvertakes returns how often a sale may be overtaken.
func (s Scenario) MaxOvertakes() int { return cmp.Or(s.Overtakes, defaultOvertakes) }

// Processes returns how many there are.
func (s Scenario) Processes() int { return cmp.Or(s.Replicas, s.Actors) }

// Apart reports whether every actor is a process of its own.
func (s Scenario) HasProcessPerActor() bool { return s.Processes() == s.Actors }

// Alike reports whether it makes no difference which process is which.
func (s Scenario) HasInterchangeableProcesses() bool { return s.HasProcessPerActor() && s.Skew == 0 }

// Named is one of the scenarios that a table of all locks tries.
type NamedScenario struct {
	Name string
	Scenario
}

// All lists them: nothing unusual, each way to use a lock, and each fault once, except for those that break every lock that expires, or
// every one on one Redis: beside them, no other would be seen. The faults of nodes are for a lock on several masters. Its sales try once,
// since waiters make schedules without end of it.
func StandardScenarios(actors int, onNodes bool) []NamedScenario {
	all := []NamedScenario{
		{"no fault", Scenario{Actors: actors}},
		{"nested", Scenario{Actors: actors, Nested: 1}},
		{"try", Scenario{Actors: actors, Try: 1}},
		{"work", Scenario{Actors: actors, Work: 25 * time.Second}},
		{"skew", Scenario{Actors: actors, Skew: 15 * time.Second}},
	}
	for _, f := range fault.All() {
		if !f.BreaksEveryLock && (onNodes || !f.OnNode) {
			all = append(all, NamedScenario{f.Name, Scenario{Actors: actors, Faults: fault.Once(f.ID)}})
		}
	}
	if onNodes {
		all = slices.DeleteFunc(all, func(n NamedScenario) bool { return n.Try > 0 })
		for i := range all {
			all[i].Try = actors
		}
	}
	return all
}
