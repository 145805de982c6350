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

	Failover       int
	Late           int
	Resend         int
	LostRequest    int
	Timeout        int
	ClockJump      int
	RedisClockJump int
	SpuriousWake   int

	NodeCrash   int
	NodeHang    int
	NodeRestart int
}

// Fault is one thing that may go wrong.
type Fault struct {
	Name   string
	Says   string // what happens, as a part of a sentence
	OnNode bool   // it happens to one of several masters
	Beats  bool   // it breaks every lock on one Redis, so All leaves it out
}

// fault is a Fault with its budget.
type fault struct {
	Fault
	budget *int
}

// table is the list of all faults. Help, documents and parsing come from it.
func (f *Faults) table() []fault {
	return []fault{
		{Fault{"expiry", "time passes a key's expiry while an actor could still move: slow work or network", false, false}, &f.Expiry},
		{Fault{"slow", "time passes to the next timer, such as a renewal's, while an actor could still move", false, false}, &f.Slow},
		{Fault{"pause", "a process stops before a command or before it has read the reply; later it resumes", false, false}, &f.Pause},
		{Fault{"crash", "a process dies, before or after a command took effect", false, false}, &f.Crash},
		{Fault{"lost-reply", "a command takes effect, and its sender gets an error instead of the reply", false, false}, &f.LostReply},
		{Fault{"cancel", "a client goes away: the context of its request is cancelled", false, false}, &f.Cancel},
		{Fault{"lost-wake", "a message that should wake a waiter never arrives", false, false}, &f.LostWake},
		{Fault{"failover", "Redis fails over to a replica without the lock's last changes; the stock is kept", false, true}, &f.Failover},
		{Fault{"late", "a command takes effect at any later time, and its sender gets an error at once", false, false}, &f.Late},
		{Fault{"resend", "a command takes effect, its reply is lost, and the client sends it again by itself", false, false}, &f.Resend},
		{Fault{"lost-request", "a command never takes effect, and its sender gets an error", false, false}, &f.LostRequest},
		{Fault{"timeout", "the wait for a lock times out; without this fault it never does", false, false}, &f.Timeout},
		{Fault{"clock-jump", "the clock of a process jumps ahead by 15 s; its timers do not", false, false}, &f.ClockJump},
		{Fault{"redis-clock", "the clock of the Redis with the lock, or of a master, jumps ahead by 15 s", false, true}, &f.RedisClockJump},
		{Fault{"spurious-wake", "a process is told that it may have missed a message, although it has not", false, false}, &f.SpuriousWake},
		{Fault{"node-crash", "one of the lock's masters refuses connections from then on", true, false}, &f.NodeCrash},
		{Fault{"node-hang", "one of the lock's masters executes commands from then on, but never answers", true, false}, &f.NodeHang},
		{Fault{"node-restart", "one of the lock's masters restarts empty", true, false}, &f.NodeRestart},
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
