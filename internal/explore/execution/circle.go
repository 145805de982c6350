package execution

import "fmt"

// Circling reports whether everybody who is left waits between two rounds that told it the same, although Redis changed: they may be
// turning in a circle.
func (x *Execution) Circling() bool {
	waits := false
	for _, a := range x.actors {
		if a.finished || a.Dead() {
			continue
		}
		t := a.main
		if !t.asleep() && !t.rests() || t.poller.same == 0 {
			return false
		}
		waits = true
	}
	return waits
}

// Loose tells states apart as long as nobody is told anything new: it has what the servers hold, what is due, and where each task is, and
// what its last round was told; but neither what came before that, nor the time of day.
func (x *Execution) Loose() string {
	var b []byte
	for _, s := range x.Cluster.Servers() {
		b = fmt.Appendf(b, "|%d %s", s.Health, s.Holds.Text)
		b = x.appendHidden(b, s, x.unsorted())
	}
	for _, t := range x.tasks {
		if t.Ended() {
			continue
		}
		b = fmt.Appendf(b, "|%s %t %t %t %d", t.name, t.pending != nil, t.asleep(), t.rests(), len(t.round.asked))
		b = fmt.Appendf(b, " %d %d", t.round.told, t.poller.told)
	}
	for _, p := range x.processes {
		b = x.appendDue(append(b, '/'), p)
	}
	return string(b)
}
