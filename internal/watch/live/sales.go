package live

import (
	"slices"
	"time"

	"lockstep/internal/watch/witness"
)

const (
	mostSales   = 200 // that have ended and are remembered
	mostNamed   = 3   // whose sections a section overlaps, by name
	mostCompare = 400 // sections that a section is compared with
)

// sale is what has become of one.
type sale struct {
	name, replica string
	depth         int // of nested calls that have the lock

	asked, obtained, left, ended time.Time // zero: not yet

	latest   time.Time // event
	code     string    // "sold", or an error's
	overlaps []string
	with     int
	died     bool
}

// stop is a time in which a replica is stopped.
type stop struct {
	replica  string
	from, to time.Time
}

func (s *sale) inside() bool { return !s.obtained.IsZero() && s.left.IsZero() }

// ofSale puts an event into the life of its sale, or of all sales of a replica.
func (s *scene) ofSale(event witness.Event) {
	one := s.sales[event.Sale]
	if one != nil {
		one.latest = event.Replied
	}
	switch event.Kind {
	case witness.KindAsks:
		if one == nil || !one.ended.IsZero() { // not a nested call
			s.begin(event)
		}
	case witness.KindObtains:
		if one.depth++; one.depth == 1 && one.obtained.IsZero() {
			one.obtained = event.Replied
			s.found.entered(s, one)
		}
	case witness.KindLeaves:
		if one.depth--; one.depth == 0 {
			s.leave(one, event.Replied)
		}
	case witness.KindLoses:
		s.leave(one, event.Replied)
	case witness.KindEnds:
		s.end(one, event.Replied, codeOf(event.Error))
	case witness.KindDies, witness.KindStops, witness.KindGoes:
		s.ofReplica(event)
	case witness.KindEmptied:
		s.found.happened(s, event)
	default:
	}
}

func (s *scene) begin(event witness.Event) {
	one := &sale{name: event.Sale, replica: event.Replica, asked: event.Replied, latest: event.Replied}
	s.sales[one.name] = one
	s.asked = append(s.asked, one)
	s.going++
	if len(s.asked)-s.going > 2*mostSales {
		s.forget()
	}
}

// forget forgets the sales that ended long ago.
func (s *scene) forget() {
	old := len(s.asked) - s.going - mostSales
	s.asked = slices.DeleteFunc(s.asked, func(one *sale) bool {
		if one.ended.IsZero() || old <= 0 {
			return false
		}
		old--
		if s.sales[one.name] == one {
			delete(s.sales, one.name)
		}
		return true
	})
}

func (s *scene) leave(one *sale, at time.Time) {
	if !one.inside() {
		return
	}
	one.left = at
	s.section(one)
}

func (s *scene) end(one *sale, at time.Time, code string) {
	s.leave(one, at)
	if one.ended.IsZero() {
		one.ended, one.code = at, code
		s.going--
	}
}

// ofReplica is for what happens to a replica.
func (s *scene) ofReplica(event witness.Event) {
	switch event.Kind {
	case witness.KindStops:
		s.stops = append(s.stops, stop{replica: event.Replica, from: event.Replied})
	case witness.KindGoes, witness.KindDies:
		for i := range s.stops {
			if s.stops[i].replica == event.Replica && s.stops[i].to.IsZero() {
				s.stops[i].to = event.Replied
			}
		}
	default:
	}
	s.found.happened(s, event)
	if event.Kind != witness.KindDies {
		return
	}
	for _, one := range s.asked {
		if one.replica == event.Replica && one.ended.IsZero() {
			one.died = true
			s.end(one, event.Replied, "died")
		}
	}
}

// section notes that a sale's section has ended, and who was inside meanwhile.
func (s *scene) section(one *sale) {
	if s.excludes {
		s.compare(one)
		s.found.correct(one)
	}
	s.fresh = append(s.fresh, Section{
		Sale: one.name, Replica: one.replica, From: s.at(one.obtained), To: s.at(one.left), Overlaps: one.overlaps, With: one.with,
	})
	if s.closed = append(s.closed, one); len(s.closed) > 2*mostCompare {
		s.closed = slices.Clone(s.closed[mostCompare:])
	}
}

// compare finds who was inside while a sale was: the latest of those that have left, and those that are inside still.
func (s *scene) compare(one *sale) {
	for i := len(s.closed) - 1; i >= 0 && i >= len(s.closed)-mostCompare; i-- {
		if other := s.closed[i]; other.left.After(one.obtained) && other.obtained.Before(one.left) {
			one.meets(other)
			s.found.parted(s, other, one)
		}
	}
	for _, other := range s.asked {
		if other != one && other.inside() && other.obtained.Before(one.left) {
			one.meets(other)
		}
	}
}

func (s *sale) meets(other *sale) {
	if s.with++; len(s.overlaps) < mostNamed {
		s.overlaps = append(s.overlaps, other.name)
	}
}

// newSections gives the sections that have ended since it was asked last.
func (s *scene) newSections() SectionsFrame {
	sections := s.fresh
	s.fresh = nil
	return sections
}
