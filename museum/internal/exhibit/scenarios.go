// Package exhibit is the table of what the libraries show: which scenarios they are put into, and what is found.
package exhibit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/locktest"
	"lockstep/museum/internal/library"
)

// Anomalies are what is looked for.
func Anomalies() []locktest.Anomaly {
	return []locktest.Anomaly{
		locktest.TwoHolders, locktest.ForeignRelease, locktest.LeftBehind, locktest.Stuck, locktest.Busy, locktest.GoroutineLeak,
	}
}

// Scenario says who does what, and what may go wrong.
type Scenario struct {
	Actors   int
	Together bool
	Faults   string // each of them once, in the order of locktest's
}

// Config is the scenario for a library, as locktest takes it. It looks for these anomalies alone.
func (s Scenario) Config(l library.Library, runs int, anomalies ...locktest.Anomaly) locktest.Config {
	return locktest.Config{
		Key: l.Key, Nodes: l.Nodes, Actors: s.Actors, Together: s.Together, Faults: s.Faults, Runs: runs, Time: time.Hour,
		Allow: slices.DeleteFunc(locktest.Anomalies(), func(a locktest.Anomaly) bool { return slices.Contains(anomalies, a) }),
	}
}

// String writes a scenario as the flags of the command; two actors and nothing else as "".
func (s Scenario) String() string {
	var flags []string
	if s.Actors != 2 {
		flags = append(flags, fmt.Sprintf("-actors %d", s.Actors))
	}
	if s.Together {
		flags = append(flags, "-together")
	}
	if s.Faults != "" {
		flags = append(flags, "-faults "+s.Faults)
	}
	return strings.Join(flags, " ")
}

// Within reports whether all that can happen in s can happen in other.
func (s Scenario) Within(other Scenario) bool {
	for fault := range strings.SplitSeq(s.Faults, ",") {
		if fault != "" && !strings.Contains(","+other.Faults+",", ","+fault+",") {
			return false
		}
	}
	return s.Together == other.Together && s.Actors <= other.Actors
}

// Scenarios are those that a library is put into. A scenario comes after those that allow less.
func Scenarios(l library.Library) (all []Scenario) {
	if l.Shares {
		return []Scenario{{Actors: 3, Together: true}}
	}
	faults := []string{
		"", "slow=1", "lost-reply=1", "lost-request=1", "cancel=1", "slow=1,late=1", "lost-reply=1,cancel=1", "crash=1", "pause=1",
	}
	if l.PortOf != "" {
		faults = []string{"", l.Faults}
	}
	if l.Nodes > 1 {
		faults = append(faults, "node-restart=1")
	}
	for _, f := range faults {
		all = append(all, Scenario{Actors: 2, Faults: f})
	}
	if l.Wakes {
		all = append(all, Scenario{Actors: 3, Together: true, Faults: "cancel=1"})
	}
	return all
}
