package bubble

import "lockstep/internal/explore/fault"

// Fault is a kind of thing that may go wrong, as it is named in a test.
type Fault struct{ Name, Says string }

// Faults returns all of them.
func Faults() (all []Fault) {
	for _, f := range fault.BubbleFaults() {
		all = append(all, Fault{f.String(), f.Row().InBubble})
	}
	return all
}

// ParseFaults reads a text such as "slow=1,cancel=1", of the faults that are allowed.
func ParseFaults(text string, allowed []Fault) (fault.Budget, error) {
	var names []string
	for _, f := range allowed {
		names = append(names, f.Name)
	}
	return fault.Parse(text, names)
}
