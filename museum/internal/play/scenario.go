package play

import (
	"fmt"
	"strings"
)

// Fault is a kind of thing that may go wrong.
type Fault int

// The faults.
const (
	none Fault = iota - 1
	Slow
	LostReply
	LostRequest
	Late
	Cancel
	NodeRestart
	Crash
	Pause
	faults // how many there are
)

// Name is what tables and commands call it.
func (f Fault) Name() string {
	return [...]string{"slow", "lost-reply", "lost-request", "late", "cancel", "node-restart", "crash", "pause"}[f]
}

// Says tells what happens.
func (f Fault) Says() string {
	return [...]string{
		"time passes to the next thing that anybody does by himself, or to an expiry, while an actor could still move",
		"a command takes effect, and the connection ends before the reply has come",
		"the connection ends, and the command never takes effect",
		"a command takes effect after its client has closed the connection",
		"the context of a call of Lock is cancelled",
		"a node restarts empty",
		"a process dies: nothing that it sends arrives any more",
		"a process that has the lock stops: nothing that it sends arrives any more, and it believes that it has the lock",
	}[f]
}

// AllFaults lists them.
func AllFaults() (all []Fault) {
	for f := range faults {
		all = append(all, f)
	}
	return all
}

// Budget says how often each fault may happen.
type Budget [faults]int

// String writes a budget as "slow=1,cancel=1".
func (b Budget) String() string {
	var parts []string
	for _, f := range AllFaults() {
		if b[f] > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", f.Name(), b[f]))
		}
	}
	return strings.Join(parts, ",")
}

// ParseBudget reads what String writes.
func ParseBudget(text string) (b Budget, _ error) {
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		name, number, _ := strings.Cut(part, "=")
		found := false
		for _, f := range AllFaults() {
			if f.Name() == name {
				found = true
				if _, err := fmt.Sscanf(number, "%d", &b[f]); err != nil || b[f] < 0 {
					return b, fmt.Errorf("faults: %q; it takes NAME=TIMES, as in slow=1,cancel=1", part)
				}
			}
		}
		if !found {
			return b, fmt.Errorf("faults: there is no %q", name)
		}
	}
	return b, nil
}

// Scenario says who does what, and what may go wrong. Each actor locks once, and unlocks if it got the lock.
type Scenario struct {
	Actors   int
	Together bool // all actors but the first are in one process; otherwise each is in its own
	Faults   Budget
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
	if s.Faults != (Budget{}) {
		flags = append(flags, "-faults "+s.Faults.String())
	}
	return strings.Join(flags, " ")
}

// processes gives the actors of each process, by their index.
func (s Scenario) processes() (all [][]int) {
	for i := range s.Actors {
		if s.Together && i > 1 {
			all[1] = append(all[1], i)
			continue
		}
		all = append(all, []int{i})
	}
	return all
}

// Within reports whether all that can happen in s can happen in other.
func (s Scenario) Within(other Scenario) bool {
	for f := range s.Faults {
		if s.Faults[f] > other.Faults[f] {
			return false
		}
	}
	return s.Together == other.Together && s.Actors <= other.Actors
}
