package bubble

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"lockstep/internal/explore/search"
)

// repeatsToLoop is the number of successive repetitions of the same events after which a process is assumed to repeat them forever. It
// exceeds the 32 attempts that redsync makes by default.
const repeatsToLoop = 40

// maxPeriod is the largest number of events in one repetition: what a polling process does between two pauses.
const maxPeriod = 16

// history records everything that a process has observed: its events and the time between them, but not their absolute times. Code that has
// observed the same has the same memory. Endless repetitions are recorded once, so that the history of a polling process stays finite.
type history struct {
	events      []event
	lastEvent   time.Duration // virtual time of the last event
	isRepeating bool          // the process has repeated its last events repeatsToLoop times

	repeatingSince time.Duration // virtual time at which isRepeating was set
}

// event is a recorded event, as hashes.
type event struct {
	hash, prefixHash search.Fingerprint // hash of the event, and of all events up to it
	repeats          [maxPeriod]uint16  // at index n-1: number of successive events, up to this one, that each equal the event n places before
}

// recordEvent appends an event to the history of a process, unless the process is paused.
func (r *Run) recordEvent(p *Process, text string) {
	if p.Paused {
		return
	}
	now, history := r.Now(), &p.history
	b := strconv.AppendInt(p.hashBuffer[:0], int64(now-history.lastEvent), 10)
	b = r.server.AppendRelative(append(b, ' '), text)
	e := event{hash: hash(b)}
	n := len(history.events)
	b = e.hash.Append(b[:0])
	if n > 0 {
		b = history.events[n-1].prefixHash.Append(b)
	}
	e.prefixHash = hash(b)
	history.lastEvent, p.hashBuffer = now, b
	for back := 1; back <= min(maxPeriod, n); back++ {
		if history.events[n-back].hash == e.hash {
			e.repeats[back-1] = history.events[n-1].repeats[back-1] + 1
		}
		if int(e.repeats[back-1]) >= repeatsToLoop*back {
			history.events = history.events[:n+1-back] // Drop the repetition: one more changes nothing.
			if !history.isRepeating {
				history.isRepeating, history.repeatingSince = true, now
			}
			return
		}
	}
	history.events = append(history.events, e)
}

// stateHash hashes everything that the future depends on: the contents of the nodes, what each process has observed and how long ago, and
// the messages in flight.
func (r *Run) stateHash() search.Fingerprint {
	now := r.Now()
	b := r.game.AppendState(r.hashBuffer[:0])
	for _, times := range r.remainingFaults {
		b = strconv.AppendInt(append(b, ' '), int64(times), 10)
	}
	b = strconv.AppendBool(b, r.isQuiescent)
	for _, p := range r.processes {
		if n := len(p.history.events); n > 0 {
			b = p.history.events[n-1].prefixHash.Append(b)
		}
		if p.Crashed || p.Paused {
			b = append(strconv.AppendBool(b, p.Crashed), '\n') // Actions of the process have no effect any more.
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

// isSilent reports whether a process is assumed to do nothing more: its actors are done, and it has had no event since another process
// began to repeat itself forever. Without this assumption, these states would all differ in the time since the process's last event.
func (r *Run) isSilent(p *Process) bool {
	return !slices.ContainsFunc(p.Actors, func(a *Actor) bool { return !a.IsIn(Done) }) &&
		slices.ContainsFunc(r.processes, func(other *Process) bool {
			return other.history.isRepeating && p.history.lastEvent < other.history.repeatingSince
		})
}

// hash returns the first 128 bits of the SHA-256 hash.
func hash(b []byte) search.Fingerprint {
	sum := sha256.Sum256(b)
	return search.Fingerprint{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}
