package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Faults are budgets: how often each fault may happen in one schedule.
type Faults struct {
	Expiry    int
	Slow      int
	Pause     int
	Crash     int
	LostReply int
	Cancel    int
	LostWake  int

	NodeCrash   int
	NodeHang    int
	NodeRestart int
}

// Fault is one thing that may go wrong.
type Fault struct {
	Name   string
	Says   string // what happens, as a part of a sentence
	OnNode bool   // it happens to one of several masters
}

// fault is a Fault with its budget.
type fault struct {
	Fault
	budget *int
}

// table is the list of all faults. Help, documents and parsing come from it.
func (f *Faults) table() []fault {
	return []fault{
		{Fault{Name: "expiry", Says: "time passes a key's expiry while an actor could still move: slow work or network"}, &f.Expiry},
		{Fault{Name: "slow", Says: "time passes to the next timer, such as a renewal's, while an actor could still move"}, &f.Slow},
		{Fault{Name: "pause", Says: "a process stops before a command or before it has read the reply; later it resumes"}, &f.Pause},
		{Fault{Name: "crash", Says: "a process dies, before or after a command took effect"}, &f.Crash},
		{Fault{Name: "lost-reply", Says: "a command takes effect, and its sender gets an error instead of the reply"}, &f.LostReply},
		{Fault{Name: "cancel", Says: "a client goes away: the context of its request is cancelled"}, &f.Cancel},
		{Fault{Name: "lost-wake", Says: "a message that should wake a waiter never arrives"}, &f.LostWake},
		{Fault{Name: "node-crash", Says: "one of the lock's masters refuses connections from then on", OnNode: true}, &f.NodeCrash},
		{Fault{Name: "node-hang", Says: "one of the lock's masters executes commands from then on, but never answers", OnNode: true}, &f.NodeHang},
		{Fault{Name: "node-restart", Says: "one of the lock's masters restarts empty", OnNode: true}, &f.NodeRestart},
	}
}

// AllFaults lists the faults there are.
func AllFaults() []Fault {
	var all []Fault
	for _, f := range new(Faults).table() {
		all = append(all, f.Fault)
	}
	return all
}

// FaultNames lists the names of all faults.
func FaultNames() []string {
	var names []string
	for _, f := range AllFaults() {
		names = append(names, f.Name)
	}
	return names
}

// Once is the budget of one fault, which may happen once.
func Once(name string) Faults {
	var f Faults
	for _, named := range f.table() {
		if named.Name == name {
			*named.budget = 1
		}
	}
	return f
}

// String writes the budgets as "expiry=1,crash=1", and none as "".
func (f Faults) String() string {
	var parts []string
	for _, named := range f.table() {
		if *named.budget > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", named.Name, *named.budget))
		}
	}
	return strings.Join(parts, ",")
}

// Map gives all budgets by name, zeros too.
func (f Faults) Map() map[string]int {
	budgets := map[string]int{}
	for _, named := range f.table() {
		budgets[named.Name] = *named.budget
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

// OnNodes reports whether any of these happens to one of several masters.
func (f Faults) OnNodes() bool { return f.NodeCrash+f.NodeHang+f.NodeRestart > 0 }
