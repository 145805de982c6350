package engine

import (
	"strconv"
)

// circle is what is known of waiters who may be turning in a circle.
type circle struct {
	seen     map[Fingerprint]int // the states in which everybody waited between two rounds, and how many rounds there were by then
	returned bool                // the last transition led to one of them, and somebody has asked since
}

// Circling reports whether everybody who is left waits between two rounds, as they did before in this schedule: they may be turning in a
// circle.
func (x *fingerprints) Circling() bool { return x.returned }

// turn takes down a state in which everybody waits between two rounds.
func (x *fingerprints) turn() {
	x.returned = false
	if !x.allPause() {
		return
	}
	if x.seen == nil {
		x.seen = map[Fingerprint]int{}
	}
	state := x.Hasher.sum(x.appendLoose(x.Hasher.buffer[:0]))
	rounds, known := x.seen[state]
	x.returned = known && rounds != x.rounds
	x.seen[state] = x.rounds
}

// allPause reports whether everybody who is left waits between two rounds.
func (x *fingerprints) allPause() bool {
	waits := false
	for _, a := range x.actors {
		if a.finished || a.Dead() {
			continue
		}
		if a.main.torn || !a.main.asleep() && !a.main.isPaused() {
			return false
		}
		waits = true
	}
	return waits
}

// Loose tells states apart as long as nobody is told anything new: it has what the servers hold, what is due, and where each task is, and
// what its last round was told; but neither what came before that, nor the time of day.
func (x *fingerprints) Loose() string { return string(x.appendLoose(nil)) }

func (x *fingerprints) appendLoose(b []byte) []byte {
	b = x.appendServers(b)
	for _, t := range x.tasks {
		if t.Ended() {
			continue
		}
		b = append(append(append(b, '|'), t.actor.Name...), '.')
		for _, n := range [...]int{t.nth, len(t.round.asked)} {
			b = strconv.AppendInt(append(b, ' '), int64(n), 10)
		}
		for _, is := range [...]bool{t.pending != nil, t.subscribes, t.asleep(), t.isPaused()} {
			b = strconv.AppendBool(append(b, ' '), is)
		}
		b = t.round.told.Append(b)
	}
	for _, p := range x.processes {
		b = x.appendDue(append(b, '/'), p)
	}
	return b
}
