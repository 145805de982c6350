package bubble

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"lockstep/internal/explore/search"
)

// alike is how often a process does the same, one time after the other, until it is taken to go on like that for ever.
const repeatsToLoop = 40

// period is how many events the same may consist of: what a process does between two pauses.
const maxPeriod = 16

// history is all that a process has seen: events, and how much time lay between them, but not when they were. Code that has seen the same
// has the same memory. If it does the same for ever, its history ends all the same.
type history struct {
	events      []event
	lastEvent   time.Duration // when the last event was
	isRepeating bool          // it has done the same too often

	repeatingSince time.Duration // when it was found to repeat
}

type event struct {
	hash, prefixHash search.Fingerprint // a hash of it, and of all up to it
	repeats          [maxPeriod]uint16  // of the events up to it, how many are the same as the one so many before
}

// record adds to the history of a process.
func (r *Run) recordEvent(p *Process, what string) {
	if p.Paused {
		return
	}
	at, h := r.Now(), &p.history
	b := strconv.AppendInt(p.hashBuffer[:0], int64(at-h.lastEvent), 10)
	b = r.server.AppendRelative(append(b, ' '), what)
	e := event{hash: hash(b)}
	n := len(h.events)
	b = e.hash.Append(b[:0])
	if n > 0 {
		b = h.events[n-1].prefixHash.Append(b)
	}
	e.prefixHash = hash(b)
	h.lastEvent, p.hashBuffer = at, b
	for back := 1; back <= min(maxPeriod, n); back++ {
		if h.events[n-back].hash == e.hash {
			e.repeats[back-1] = h.events[n-1].repeats[back-1] + 1
		}
		if int(e.repeats[back-1]) >= repeatsToLoop*back {
			h.events = h.events[:n+1-back] // once more changes nothing
			if !h.isRepeating {
				h.isRepeating, h.repeatingSince = true, at
			}
			return
		}
	}
	h.events = append(h.events, e)
}

// fingerprint is a hash of all that the future depends on: what the nodes hold, what has happened to each process and how long ago, and
// what is on its way.
func (r *Run) stateHash() search.Fingerprint {
	now := r.Now()
	b := r.game.AppendState(r.hashBuffer[:0])
	for _, times := range r.remainingFaults {
		b = strconv.AppendInt(append(b, ' '), int64(times), 10)
	}
	b = strconv.AppendBool(b, r.isStill)
	for _, p := range r.processes {
		if n := len(p.history.events); n > 0 {
			b = p.history.events[n-1].prefixHash.Append(b)
		}
		if p.Crashed || p.Paused {
			b = append(strconv.AppendBool(b, p.Crashed), '\n') // what its code does, nobody sees any more
			continue
		}
		if r.isSilent(p) {
			b = append(b, '\n')
			continue
		}
		b = append(strconv.AppendInt(b, int64(now-p.history.lastEvent), 10), '\n')
	}
	for _, a := range r.actors {
		s, err := a.Status()
		b = strconv.AppendBool(append(b, byte('0'+s)), err != nil)
	}
	r.hashBuffer = r.server.AppendState(append(b, '\n'))
	return hash(r.hashBuffer)
}

// isSilent reports whether a process is taken to do nothing any more: its actors are done, and it has done nothing since another one began
// to do the same for ever. Without this, no two states of one that polls for ever would be alike.
func (r *Run) isSilent(p *Process) bool {
	return !slices.ContainsFunc(p.Actors, func(a *Actor) bool { return !a.IsIn(Done) }) &&
		slices.ContainsFunc(r.processes, func(other *Process) bool {
			return other.history.isRepeating && p.history.lastEvent < other.history.repeatingSince
		})
}

func hash(b []byte) search.Fingerprint {
	sum := sha256.Sum256(b)
	return search.Fingerprint{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}
