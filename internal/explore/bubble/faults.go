package bubble

import "lockstep/internal/explore/fault"

// Fault is a kind of fault: its name in Config.Faults, and a sentence that describes it.
type Fault struct{ Name, Says string }

// Faults returns the faults that can happen in a bubble.
func Faults() (all []Fault) {
	for _, f := range fault.BubbleFaults() {
		all = append(all, Fault{f.String(), f.Row().InBubble})
	}
	return all
}

// ParseFaults parses a budget such as "slow=1,cancel=1". It fails if the text names a fault that is not in allowed.
func ParseFaults(text string, allowed []Fault) (fault.Budget, error) {
	var names []string
	for _, f := range allowed {
		names = append(names, f.Name)
	}
	return fault.Parse(text, names)
}
