package bubble

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// fault is a kind of thing that may go wrong.
type fault int

const (
	none fault = iota - 1
	slow
	lostReply
	lostRequest
	late
	cancel
	nodeRestart
	crash
	pause
	faults // how many there are
)

// Fault is a kind of thing that may go wrong, as it is named in a test.
type Fault struct{ Name, Says string }

// Faults returns all of them.
func Faults() []Fault {
	return []Fault{
		slow:        {"slow", "time passes to the next timer or expiry, although an actor could still move"},
		lostReply:   {"lost-reply", "a command takes effect, and the connection ends before the reply has come"},
		lostRequest: {"lost-request", "the connection ends, and the command never takes effect"},
		late:        {"late", "a command takes effect after its client has closed the connection"},
		cancel:      {"cancel", "the context that a call was given is cancelled"},
		nodeRestart: {"node-restart", "a node restarts empty"},
		crash:       {"crash", "a process dies: nothing that it sends arrives any more"},
		pause: {
			"pause", "a process that has the lock stops: nothing that it sends arrives any more, and it believes that it has the lock",
		},
	}
}

// Budget says how often each fault may happen. The zero Budget has none.
type Budget [faults]int

// ParseFaults reads a text such as "slow=1,cancel=1", of the faults that are allowed.
func ParseFaults(text string, allowed []Fault) (b Budget, _ error) {
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		name, times, _ := strings.Cut(strings.TrimSpace(part), "=")
		isNamed := func(f Fault) bool { return f.Name == name }
		if !slices.ContainsFunc(allowed, isNamed) {
			var names []string
			for _, f := range allowed {
				names = append(names, f.Name)
			}
			return b, fmt.Errorf("faults: there is no %q; there are %s", name, strings.Join(names, ", "))
		}
		n, err := strconv.Atoi(times)
		if err != nil || n < 0 {
			return b, fmt.Errorf("faults: %q; it takes NAME=TIMES, as in slow=1,cancel=1", part)
		}
		i := slices.IndexFunc(Faults(), isNamed)
		if b[i] > 0 {
			return b, fmt.Errorf("faults: %s is given twice", name)
		}
		b[i] = n
	}
	return b, nil
}
