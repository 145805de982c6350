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

// Constants of all schedules.
const (
	InitialStock     = 100                   // pieces before the first sale
	TTL              = 10 * time.Second      // expiry of a lock
	PollInterval     = 20 * time.Millisecond // pause between two attempts of a waiter
	Forever          = 1000 * time.Hour      // longest wait for a lock; no passing of time reaches it, only the fault timeout does
	defaultOvertakes = 1                     // default of Scenario.Overtakes: one hand-off within a process while another process waits
)

// Upper limits of a scenario's values.
const (
	MaxActors = 26  // number of actors: each is named by one letter
	MaxNested = 100 // nested calls of one sale
	MaxNodes  = 9   // masters of one lock
	MaxSales  = 100 // sales of one actor
)

// Scenario configures an exploration: who does what, and what may go wrong.
type Scenario struct {
	Actors      int           // number of buyers
	Sales       int           // sales of each actor, one after the other; 0: one
	Replicas    int           // number of processes; 0: one for each actor
	Try         int           // actors that try once for the lock, and do not wait
	Nested      int           // nested calls of each sale, which take the lock again
	Nodes       int           // masters that the lock is on; 0: three, for a lock on several masters
	Overtakes   int           // number of times that later sales may overtake a waiting one; 0: once
	Work        time.Duration // virtual time between reading the stock and writing it; 0: none
	Skew        time.Duration // clock error: the first process is behind Redis by this, the second ahead, the third right, and so on
	FreedWithin time.Duration // time after which a dead holder's lock must be free; 0: any finite time
	Faults      fault.Budget  // faults that may happen, and how often each

	Language language.Language // language of sentences; "": English. Not written by String
}

// Say formats a sentence in the scenario's language. Both texts are formats for the same values.
func (s Scenario) Say(english, chinese string, values ...any) string {
	return s.Language.Say(english, chinese, values...)
}

// Check returns an error if a value of the scenario is not allowed, whatever the lock.
func (s Scenario) Check() error {
	for _, limit := range []struct {
		value, least, most int
		format, chinese    string
	}{
		{s.Nodes, 0, MaxNodes, "nodes: %d; it takes 1 to %d, or 0 for three", "nodes 不能是 %d：取值 1 到 %d；0 表示三个"},
		{s.Actors, 1, MaxActors, "actors: %d; it takes 1 to %d", "actors 不能是 %d：取值 1 到 %d"},
		{s.Replicas, 0, s.Actors, "replicas: %d; it takes 1 to %d, as many as there are actors, or 0 for one each",
			"replicas 不能是 %d：取值 1 到 %d，即参与方数；0 表示每方一个"},
		{s.Try, 0, s.Actors, "try: %d; it takes 0 to %d, as many as there are actors", "try 不能是 %d：取值 0 到 %d，即参与方数"},
		{s.Sales, 0, MaxSales, "sales: %d; it takes 1 to %d", "sales 不能是 %d：取值 1 到 %d"},
		{s.Overtakes, 0, MaxActors * MaxSales, "overtakes: %d; it takes 1 to %d", "overtakes 不能是 %d：取值 1 到 %d"},
		{s.Nested, 0, MaxNested, "nested: %d; it takes 0 to %d", "nested 不能是 %d：取值 0 到 %d"},
	} {
		if limit.value < limit.least || limit.value > limit.most {
			return language.Translate(fmt.Errorf(limit.format, limit.value, limit.most), limit.chinese, limit.value, limit.most)
		}
	}
	for _, limit := range []struct {
		value time.Duration
		name  string
	}{{s.Work, "work"}, {s.FreedWithin, "freed-within"}, {s.Skew, "skew"}} {
		if limit.value < 0 || limit.value >= Forever {
			return language.Translate(fmt.Errorf("%s: %v; it takes 0 to less than %.0fh", limit.name, limit.value, Forever.Hours()),
				"%s 不能是 %v：取值 0 到 %.0fh（不含）", limit.name, limit.value, Forever.Hours())
		}
	}
	return s.Faults.Check()
}

// CheckFor returns an error if a value of the scenario is not allowed for this lock.
func (s Scenario) CheckFor(strategy strategy.Strategy) error {
	if !strategy.OnNodes && (s.Nodes > 0 || s.Faults.HasNodeFaults()) {
		return language.Translate(fmt.Errorf(
			"nodes: %s is not on several masters; nodes, node-crash, node-hang and node-restart are only for such locks, like redlock",
			strategy.Name), "%s 不用多个节点；nodes 和 node-* 故障只用于 redlock 这类在多个主节点上的锁", strategy.Name)
	}
	return s.Check()
}

// SalesEach returns the number of sales of each actor.
func (s Scenario) SalesEach() int { return max(s.Sales, 1) }

// MaxOvertakes returns how many times later sales may overtake a waiting one.
func (s Scenario) MaxOvertakes() int { return cmp.Or(s.Overtakes, defaultOvertakes) }

// Processes returns the number of processes.
func (s Scenario) Processes() int { return cmp.Or(s.Replicas, s.Actors) }

// HasProcessPerActor reports whether every actor has a process of its own.
func (s Scenario) HasProcessPerActor() bool { return s.Processes() == s.Actors }

// HasInterchangeableProcesses reports whether each process has one actor, and the clocks of all processes agree.
func (s Scenario) HasInterchangeableProcesses() bool { return s.HasProcessPerActor() && s.Skew == 0 }

// NamedScenario is a scenario of the table of all locks.
type NamedScenario struct {
	Name string
	Scenario
}

// StandardScenarios lists the scenarios of the table of all locks: no fault, each way to use a lock, and each fault once. It leaves out
// faults that break every lock that expires, or every lock on one Redis, as these would hide all other faults. Faults of nodes are for a
// lock on several masters; its actors try once, since waiters there have infinitely many schedules.
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
