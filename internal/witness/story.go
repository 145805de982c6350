package witness

import (
	"cmp"
	"slices"
	"time"
)

// Turn is a step of a story: a finding, and the turns that it follows from.
type Turn struct {
	Finding

	After []int // their places in the story, from 1 on

	cause *Finding // nil: none is known
}

const (
	mostTurns = 9 // of a story
	mostTold  = 8 // findings of a kind among which a story chooses
)

// turning are the kinds of findings that a story is made of, the earlier of the same moment first. Those that say the same in other words
// are not among them.
func turning() []FindingKind {
	return []FindingKind{
		Halted, Perished, Forgot, Overwrote, ExpiredAtWork, CameIn, Prolonged, WaitsForItself, RefusedToken, LostUpdate, Removed, LeftBehind,
	}
}

// Story tells what went wrong first: how a lock was lost, who came in for that, and so on up to the first update that is lost, each with
// what it follows from. Of what went wrong later, it tells the first of each kind that has not been told.
func (a *Account) Story() []Turn {
	if a.told != nil {
		return a.told
	}
	faults := slices.Concat(a.tale, a.leftBehind())
	slices.SortStableFunc(faults, func(a, b Finding) int { return a.At.Compare(b.At) })
	if len(faults) == 0 {
		return nil
	}
	s := story{account: a}
	for _, kind := range turning() {
		if f, is := firstOf(faults, kind); is {
			s.add(f)
		}
	}
	return s.numbered()
}

// firstOf gives the first finding of a kind; of locks that expired, rather that of a sale by which the first update was lost.
func firstOf(faults []Finding, kind FindingKind) (first Finding, is bool) {
	those := slices.DeleteFunc(slices.Clone(faults), func(f Finding) bool { return f.Kind != kind })
	if len(those) == 0 {
		return first, false
	}
	lost := slices.IndexFunc(faults, func(f Finding) bool { return f.Kind == LostUpdate })
	if lost >= 0 && kind == ExpiredAtWork {
		for _, f := range those {
			if (f.By == faults[lost].By || f.By == faults[lost].Of) && f.At.Before(faults[lost].At) {
				return f, true
			}
		}
	}
	return those[0], true
}

// story is one that is being told.
type story struct {
	account *Account
	turns   []Turn
}

// add takes a finding, what led to it, and who came in for it.
func (s *story) add(f Finding) {
	cause := s.causeOf(f) // which may be another turn
	s.turns = append(s.turns, Turn{Finding: f, cause: cause})
	if in := s.nextEntry(f); in != nil {
		s.turns = append(s.turns, Turn{Finding: *in, cause: &f})
	}
}

// causeOf finds among the turns what led to a finding, or adds it; nil if nothing is known.
func (s *story) causeOf(f Finding) *Finding {
	switch f.Kind {
	case ExpiredAtWork:
		return s.halt(f)
	case Removed, Prolonged: // whose lock it took for its own
		return cmp.Or(s.find(func(before Finding) bool { return before.Kind == CameIn && isOf(f.Of, before.By) }),
			s.find(func(before Finding) bool { return before.Kind == ExpiredAtWork && before.By == f.By }))
	case RefusedToken:
		return s.find(func(before Finding) bool { return before.Kind == CameIn && before.Of == f.By })
	case LostUpdate:
		return s.meeting(f)
	case LeftBehind:
		return s.death(f)
	default:
		return nil
	}
}

func (s *story) find(those func(Finding) bool) *Finding {
	for _, t := range s.turns {
		if those(t.Finding) {
			return &t.Finding
		}
	}
	return nil
}

// first adds a turn that nothing is known to have led to.
func (s *story) first(f Finding) *Finding {
	s.turns = append(s.turns, Turn{Finding: f})
	return &f
}

// halt is that a sale's replica was stopped while its lock expired.
func (s *story) halt(f Finding) *Finding {
	for _, stop := range s.account.Stops {
		if stop.Replica == ReplicaOf(f.By) && stop.Covers(f.At) {
			return s.first(Finding{Kind: Halted, At: stop.From, By: f.By})
		}
	}
	return nil
}

// death is that of the replica that left its lock behind.
func (s *story) death(f Finding) *Finding {
	if died := s.account.died[ReplicaOf(f.By)]; died.Equal(f.At) {
		return s.first(Finding{Kind: Perished, At: died, By: f.By})
	}
	return nil
}

// nextEntry is who came in next after a lock was lost, while the sale that had lost it was inside.
func (s *story) nextEntry(f Finding) *Finding {
	victim := f.Of
	switch f.Kind {
	case ExpiredAtWork:
		victim = f.By
	case Removed, Forgot, Overwrote:
	default:
		return nil
	}
	var next *Inside
	for _, i := range s.account.Insides {
		later := !i.From.Before(f.At) || f.Kind == Overwrote && isOf(f.By, i.Sale)
		if later && !isOf(victim, i.Sale) && (next == nil || i.From.Before(next.From)) {
			next = i
		}
	}
	for _, i := range s.account.Insides {
		if next != nil && i.Segment == next.Segment && isOf(victim, i.Sale) && i.Covers(next.From) {
			return &Finding{Kind: CameIn, At: next.From, By: next.Sale, Of: i.Sale}
		}
	}
	return nil
}

// meeting is that one of two sales came in while the other was inside.
func (s *story) meeting(f Finding) *Finding {
	known := s.find(func(before Finding) bool {
		return before.Kind == CameIn && (before.By == f.By && before.Of == f.Of || before.By == f.Of && before.Of == f.By)
	})
	if known != nil {
		return known
	}
	by, of := s.insideBefore(f.By, f.At), s.insideBefore(f.Of, f.At)
	if by == nil || of == nil {
		return nil
	}
	if by.From.Before(of.From) {
		by, of = of, by
	}
	if !of.Covers(by.From) {
		return nil
	}
	return s.first(Finding{Kind: CameIn, At: by.From, By: by.Sale, Of: of.Sale})
}

// insideBefore is when a sale was inside, the last time before a moment.
func (s *story) insideBefore(sale string, at time.Time) *Inside {
	for _, i := range slices.Backward(s.account.Insides) {
		if i.Sale == sale && !i.From.After(at) {
			return i
		}
	}
	return nil
}

func (s *story) numbered() []Turn {
	slices.SortStableFunc(s.turns, func(a, b Turn) int {
		rank := func(k FindingKind) int { return slices.Index(turning(), k) }
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(rank(a.Kind), rank(b.Kind)))
	})
	told := slices.CompactFunc(s.turns, func(a, b Turn) bool { return a.Finding == b.Finding })
	told = told[:min(len(told), mostTurns)]
	for i, t := range told {
		if before := slices.IndexFunc(told[:i], func(b Turn) bool { return t.cause != nil && b.Finding == *t.cause }); before >= 0 {
			told[i].After = []int{before + 1}
		}
	}
	return told
}

// keepForStory keeps a finding that a story may be made of.
func (a *Account) keepForStory(f Finding) {
	if slices.Contains(turning(), f.Kind) && a.Found[f.Kind] <= mostTold {
		a.tale = append(a.tale, f)
	}
}
