package witness

import (
	"cmp"
	"slices"
	"time"
)

// Turn is a step of a story: a finding, and the turns that it follows from.
type StoryMoment struct {
	Finding

	Causes []int // their places in the story, from 1 on

	cause *Finding // nil: none is known
}

const (
	maxMoments       = 9 // of a story
	maxStoryFindings = 8 // findings of a kind among which a story chooses
)

// turning are the kinds of findings that a story is made of, the earlier of the same moment first. Those that say the same in other words
// are not among them.
func storyKinds() []FindingKind {
	return []FindingKind{
		ReplicaPaused, ReplicaDied, RedisLostLock, OverwroteLock, ExpiredAtWork, EnteredOccupied, ProlongedLock,
		WaitsForItself, RefusedToken, LostUpdate, RemovedLock, LeftBehind,
	}
}

// Story tells what went wrong first: how a lock was lost, who came in for that, and so on up to the first update that is lost, each with
// what it follows from. Of what went wrong later, it tells the first of each kind that has not been told.
func (a *Account) Story() []StoryMoment {
	if a.storySnapshot != nil {
		return a.storySnapshot
	}
	faults := slices.Concat(a.storyFindings, a.findLeftBehind())
	slices.SortStableFunc(faults, func(a, b Finding) int { return a.At.Compare(b.At) })
	if len(faults) == 0 {
		return nil
	}
	s := storyBuilder{account: a}
	for _, kind := range storyKinds() {
		if f, is := firstOfKind(faults, kind); is {
			s.add(f)
		}
	}
	return s.ordered()
}

// firstOf gives the first finding of a kind; of locks that expired, rather that of a sale by which the first update was lost.
func firstOfKind(faults []Finding, kind FindingKind) (first Finding, is bool) {
	those := slices.DeleteFunc(slices.Clone(faults), func(f Finding) bool { return f.Kind != kind })
	if len(those) == 0 {
		return first, false
	}
	lost := slices.IndexFunc(faults, func(f Finding) bool { return f.Kind == LostUpdate })
	if lost >= 0 && kind == ExpiredAtWork {
		for _, f := range those {
			if (f.Subject == faults[lost].Subject || f.Subject == faults[lost].Other) && f.At.Before(faults[lost].At) {
				return f, true
			}
		}
	}
	return those[0], true
}

// story is one that is being told.
type storyBuilder struct {
	account *Account
	moments []StoryMoment
}

// add takes a finding, what led to it, and who came in for it.
func (s *storyBuilder) add(f Finding) {
	cause := s.causeOf(f) // which may be another turn
	s.moments = append(s.moments, StoryMoment{Finding: f, cause: cause})
	if in := s.nextEntry(f); in != nil {
		s.moments = append(s.moments, StoryMoment{Finding: *in, cause: &f})
	}
}

// causeOf finds among the turns what led to a finding, or adds it; nil if nothing is known.
func (s *storyBuilder) causeOf(f Finding) *Finding {
	switch f.Kind {
	case ExpiredAtWork:
		return s.addPauseCause(f)
	case RemovedLock, ProlongedLock: // whose lock it took for its own
		return cmp.Or(s.find(func(before Finding) bool { return before.Kind == EnteredOccupied && isHeldBy(f.Other, before.Subject) }),
			s.find(func(before Finding) bool { return before.Kind == ExpiredAtWork && before.Subject == f.Subject }))
	case RefusedToken:
		return s.find(func(before Finding) bool { return before.Kind == EnteredOccupied && before.Other == f.Subject })
	case LostUpdate:
		return s.addOverlapCause(f)
	case LeftBehind:
		return s.addDeathCause(f)
	default:
		return nil
	}
}

func (s *storyBuilder) find(those func(Finding) bool) *Finding {
	for _, t := range s.moments {
		if those(t.Finding) {
			return &t.Finding
		}
	}
	return nil
}

// first adds a turn that nothing is known to have led to.
func (s *storyBuilder) addUncaused(f Finding) *Finding {
	s.moments = append(s.moments, StoryMoment{Finding: f})
	return &f
}

// halt is that a sale's replica was stopped while its lock expired.
func (s *storyBuilder) addPauseCause(f Finding) *Finding {
	for _, stop := range s.account.Stops {
		if stop.Replica == ReplicaOf(f.Subject) && stop.Contains(f.At) {
			return s.addUncaused(Finding{Kind: ReplicaPaused, At: stop.From, Subject: f.Subject})
		}
	}
	return nil
}

// death is that of the replica that left its lock behind.
func (s *storyBuilder) addDeathCause(f Finding) *Finding {
	if died := s.account.diedAt[ReplicaOf(f.Subject)]; died.Equal(f.At) {
		return s.addUncaused(Finding{Kind: ReplicaDied, At: died, Subject: f.Subject})
	}
	return nil
}

// nextEntry is who came in next after a lock was lost, while the sale that had lost it was inside.
func (s *storyBuilder) nextEntry(f Finding) *Finding {
	victim := f.Other
	switch f.Kind {
	case ExpiredAtWork:
		victim = f.Subject
	case RemovedLock, RedisLostLock, OverwroteLock:
	default:
		return nil
	}
	var next *CriticalSection
	for _, i := range s.account.CriticalSections {
		later := !i.From.Before(f.At) || f.Kind == OverwroteLock && isHeldBy(f.Subject, i.Sale)
		if later && !isHeldBy(victim, i.Sale) && (next == nil || i.From.Before(next.From)) {
			next = i
		}
	}
	for _, i := range s.account.CriticalSections {
		if next != nil && i.Segment == next.Segment && isHeldBy(victim, i.Sale) && i.Contains(next.From) {
			return &Finding{Kind: EnteredOccupied, At: next.From, Subject: next.Sale, Other: i.Sale}
		}
	}
	return nil
}

// meeting is that one of two sales came in while the other was inside.
func (s *storyBuilder) addOverlapCause(f Finding) *Finding {
	known := s.find(func(before Finding) bool {
		isPair := before.Subject == f.Subject && before.Other == f.Other || before.Subject == f.Other && before.Other == f.Subject
		return before.Kind == EnteredOccupied && isPair
	})
	if known != nil {
		return known
	}
	by, of := s.sectionBefore(f.Subject, f.At), s.sectionBefore(f.Other, f.At)
	if by == nil || of == nil {
		return nil
	}
	if by.From.Before(of.From) {
		by, of = of, by
	}
	if !of.Contains(by.From) {
		return nil
	}
	return s.addUncaused(Finding{Kind: EnteredOccupied, At: by.From, Subject: by.Sale, Other: of.Sale})
}

// insideBefore is when a sale was inside, the last time before a moment.
func (s *storyBuilder) sectionBefore(sale string, at time.Time) *CriticalSection {
	for _, i := range slices.Backward(s.account.CriticalSections) {
		if i.Sale == sale && !i.From.After(at) {
			return i
		}
	}
	return nil
}

func (s *storyBuilder) ordered() []StoryMoment {
	slices.SortStableFunc(s.moments, func(a, b StoryMoment) int {
		rank := func(k FindingKind) int { return slices.Index(storyKinds(), k) }
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(rank(a.Kind), rank(b.Kind)))
	})
	told := slices.CompactFunc(s.moments, func(a, b StoryMoment) bool { return a.Finding == b.Finding })
	told = told[:min(len(told), maxMoments)]
	for i, t := range told {
		if before := slices.IndexFunc(told[:i], func(b StoryMoment) bool { return t.cause != nil && b.Finding == *t.cause }); before >= 0 {
			told[i].Causes = []int{before + 1}
		}
	}
	return told
}

// keepForStory keeps a finding that a story may be made of.
func (a *Account) keepForStory(f Finding) {
	if slices.Contains(storyKinds(), f.Kind) && a.FindingCounts[f.Kind] <= maxStoryFindings {
		a.storyFindings = append(a.storyFindings, f)
	}
}
