package execution

import (
	"fmt"
	"strconv"
)

// View stands for all that a transition can see, and change, but for what its process cannot know of: what the servers hold, what happened
// to that process, and what it waits for, with all names as they are. Two transitions with one view do the same, whatever happened to
// others. There is none, false, for what happens to nobody: time passes for all.
func (x *Execution) View(t Transition) (view Fingerprint, has bool) {
	a := x.Actor(t)
	if a == nil {
		return Fingerprint{}, false
	}
	names, b := x.unsorted(), x.Hasher.buffer[:0]
	for _, s := range x.Cluster.Servers() {
		b = fmt.Appendf(b, "|%s %s", s.Health, s.Holds.Text)
		b = x.appendHidden(b, s, names)
	}
	b = append(x.appendProcess(b, a.Process, names), '|')
	if t.Kind.OfTask() {
		b = append(b, x.tasks[t.ID].label...)
	}
	for _, n := range [...]int{int(t.Kind), a.Index, int(x.now), int(x.jumped)} {
		b = strconv.AppendInt(append(b, ' '), int64(n), 10)
	}
	return x.Hasher.sum(b), true
}
