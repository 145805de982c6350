package execution

import "slices"

// Names gives transitions names that are the same in every state with this fingerprint, whatever led to it: instead of a task or a process,
// whose it is, and the how manieth of his that is. There are none, nil, if the lock is on several nodes: the fingerprint does not tell
// which is which.
func (x *Execution) Names(of []Transition) []Transition {
	if x.Cluster.OnNodes() {
		return nil
	}
	o, names := x.order(), slices.Clone(of)
	for i, t := range of {
		a := x.Actor(t)
		if a == nil {
			continue
		}
		nth := 0
		for _, before := range of[:i] {
			if before.Kind == t.Kind && x.Actor(before) == a {
				nth++
			}
		}
		names[i].ID = uint16(o.Place(a.Index)<<8 | nth) //nolint:gosec // there are few
	}
	return names
}
