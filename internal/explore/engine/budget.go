package engine

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

	Failover       int
	Rollback       int
	Evict          int
	Late           int
	Resend         int
	LostRequest    int
	Timeout        int
	ClockJump      int
	RedisClockJump int

	NodeCrash   int
	NodeHang    int
	NodeRestart int
}

// Fault is one thing that may go wrong.
type Fault struct {
	Name   string
	OnNode bool // it happens to one of several masters
	Beats  bool // it breaks every lock that expires, or every one on one Redis: All leaves it out
}

// fault is a Fault with its budget.
type fault struct {
	Fault
	budget *int
}

// table lists all faults. Help, documents and parsing come from it.
func (f *Faults) table() []fault {
	return []fault{
		{Fault{Name: "expiry"}, &f.Expiry},
		{Fault{Name: "slow"}, &f.Slow},
		{Fault{Name: "pause"}, &f.Pause},
		{Fault{Name: "crash"}, &f.Crash},
		{Fault{Name: "lost-reply"}, &f.LostReply},
		{Fault{Name: "cancel"}, &f.Cancel},
		{Fault{Name: "lost-wake"}, &f.LostWake},
		{Fault{Name: "failover", Beats: true}, &f.Failover},
		{Fault{Name: "rollback", Beats: true}, &f.Rollback},
		{Fault{Name: "evict", Beats: true}, &f.Evict},
		{Fault{Name: "late"}, &f.Late},
		{Fault{Name: "resend"}, &f.Resend},
		{Fault{Name: "lost-request"}, &f.LostRequest},
		{Fault{Name: "timeout"}, &f.Timeout},
		{Fault{Name: "clock-jump"}, &f.ClockJump},
		{Fault{Name: "redis-clock", Beats: true}, &f.RedisClockJump},
		{Fault{Name: "node-crash", OnNode: true}, &f.NodeCrash},
		{Fault{Name: "node-hang", OnNode: true}, &f.NodeHang},
		{Fault{Name: "node-restart", OnNode: true}, &f.NodeRestart},
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

// Once returns the budget of one fault, which may happen once.
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

// AtLeast returns the larger budget of each fault.
func (f Faults) AtLeast(others Faults) Faults {
	table := others.table()
	for i, named := range f.table() {
		*named.budget = max(*named.budget, *table[i].budget)
	}
	return f
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
func (f Faults) OnNodes() bool { return f.NodeCrash > 0 || f.NodeHang > 0 || f.NodeRestart > 0 }

// check says which budget is not allowed.
func (f Faults) check() error {
	for _, named := range f.table() {
		if *named.budget < 0 || *named.budget > MaxTimes {
			return fmt.Errorf("faults: %s=%d; it takes 0 to %d times", named.Name, *named.budget, MaxTimes)
		}
	}
	return nil
}
