// Package lab makes the flaws of the locks happen on the running service, on demand: real replicas, real requests, real faults, a witness.
//
// A lab is one anomaly, in one file: its claim, its scenario, what it expects of each lock and why. What it observes comes from a run,
// never from the table. Each run has a Redis and replicas of its own (stage.go), and leaves nothing behind.
package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/watch/witness"
)

// Lab is one anomaly that can be seen on the running service.
type Lab struct {
	Name  string
	Claim string // what a lock that holds promises
	Shows string // the step that has the flaw; empty: none has, and the lab shows that
	Cured string // the step that cures it
	Cure  string // how

	Explore string // the same in the explorer: the arguments of lockstep explore, after the lock; empty: the explorer does not show it
	Unix    bool   // it needs signals that only Unix has
	Real    bool   // it needs a redis-server

	Explores map[string]string // Explore by lock, where it is not the same for all

	Shop     Settings
	Scenario func(*Stage)
	Fault    string                       // what must have happened for the run to say anything
	Hit      func(a witness.Account) bool // whether it did
	Proof    func(a witness.Account) bool // what shows that a lock holds; without it that is unknown; nil: that it was hit
	Signs    []witness.FindingKind        // any of these is the anomaly
	Expected []Expectation                // of the locks that the lab is for
	Blames   func(f witness.Finding) bool // which of them counts; nil: any

	language language.Language // of these texts, and of what a run says
}

// Settings are those of the shop that a lab needs.
type Settings struct {
	Replicas int
	TTL      time.Duration            // lock.ttl
	Wait     time.Duration            // lock.wait_timeout
	Nested   int                      // sale.nested
	Think    map[string]time.Duration // sale.think_time, by replica
	Ahead    map[string]time.Duration // server.clock_offset, by replica
	Proxied  []string                 // the replicas that reach Redis by a proxy

	NodesProxied bool // these reach the nodes of redlock by proxies, too
	Replicated   bool // Redis has a replica, which can take its place
	Durable      bool // a real Redis writes down what it does before it answers
	Job          *Job // the replicas run it, and sell nothing
}

// Observed is what became of a lock.
type Observed string

// What may.
const (
	Broken  Observed = "broken"
	Holds   Observed = "holds"
	Unknown Observed = "unknown" // the fault hit nobody, or something else went wrong
	NA      Observed = "n/a"     // the lab is not for this lock
)

// Expectation is what a lab expects of some locks.
type Expectation struct {
	Locks    string // names with spaces between them
	Observed Observed
	Why      string
}

// Expects gives what the lab expects of a lock.
func (l Lab) Expects(lock string) Expectation {
	for _, e := range l.Expected {
		if slices.Contains(strings.Fields(e.Locks), lock) {
			return e
		}
	}
	return Expectation{Locks: lock, Observed: NA, Why: "this lab says nothing about it"}
}

// InExplorer gives the command that shows the same in the explorer, with one of Locks or of Explores; "" if there is none.
func (l Lab) InExplorer(lock string) string {
	arguments := l.Explores[lock]
	if slices.Contains(l.Locks(), lock) {
		arguments = cmp.Or(arguments, l.Explore)
	}
	if arguments == "" {
		return ""
	}
	return "explore " + lock + " " + arguments
}

// Diff is the command that shows the cure in the code; empty if the two are not neighbours there.
func (l Lab) Diff() string {
	if !strings.HasPrefix(l.Shows, "v") || !strings.HasPrefix(l.Cured, "v") || l.Shows == "v0" {
		return ""
	}
	return "diff internal/lock" + l.Shows + " internal/lock" + l.Cured
}

// Find gives the lab of that name.
func Find(name string) (Lab, error) {
	var names []string
	for _, l := range All() {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return Lab{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
}

// Check fails if the lab is not for a lock, or there is no such lock.
func (l Lab) Check(lock string) error {
	if _, err := evolution.Find(lock); err != nil {
		return err
	}
	if e := l.Expects(lock); e.Observed == NA {
		return fmt.Errorf("%w: %s, %s: %s", ErrNotFor, l.Name, lock, e.Why)
	}
	return nil
}
