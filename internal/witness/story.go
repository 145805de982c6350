package witness

import (
	"cmp"
	"slices"
	"time"
)

// StoryMoment is one moment of a story: a finding, and the earlier moments that led to it.
type StoryMoment struct {
	Finding

	Causes []int // 1-based positions in the story; empty: no cause is known

	cause *Finding // finding that led to this one; nil: none is known
}

const (
	maxMoments       = 9 // largest number of moments of a story: what a reader takes in at one go
	maxStoryFindings = 8 // largest number of findings of a kind from which a story chooses
)

// storyKinds returns the kinds of findings that a story may have, in the order in which findings of the same moment are told. It leaves out
// kinds that only repeat others.
func storyKinds() []FindingKind {
	return []FindingKind{
		ReplicaPaused, ReplicaDied, RedisLostLock, OverwroteLock, ExpiredAtWork, EnteredOccupied, ExtendedLock,
		WaitsForItself, RefusedToken, LostUpdate, RemovedLock, LeftBehind,
	}
}

// Story returns the moments that lead to the first faults, in order: how a lock was lost, which sale entered because of that, and so on up
// to the first lost update, each with its cause. It also has the first later fault of each other kind. It is empty if nothing went wrong.
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
		if f, ok := firstOfKind(faults, kind); ok {
			s.add(f)
		}
	}
	return s.orderedMoments()
}

// firstOfKind returns the first finding of a kind. Of locks that expired, it prefers the one of a sale in the first lost update.
func firstOfKind(faults []Finding, kind FindingKind) (first Finding, ok bool) {
	candidates := slices.DeleteFunc(slices.Clone(faults), func(f Finding) bool { return f.Kind != kind })
	if len(candidates) == 0 {
		return first, false
	}
	lost := slices.IndexFunc(faults, func(f Finding) bool { return f.Kind == LostUpdate })
	if lost >= 0 && kind == ExpiredAtWork {
		for _, f := range candidates {
			if (f.Subject == faults[lost].Subject || f.Subject == faults[lost].Other) && f.At.Before(faults[lost].At) {
				return f, true
			}
		}
	}
	return candidates[0], true
}

// storyBuilder collects the moments of a story.
type storyBuilder struct {
	account *Account      // account that the story is about
	moments []StoryMoment // moments so far, not yet sorted
}

// add adds a finding, its cause, and the sale that entered because of it.
func (s *storyBuilder) add(f Finding) {
	cause := s.findOrAddCause(f) // It may add a moment, which has to come first.
	s.moments = append(s.moments, StoryMoment{Finding: f, cause: cause})
	if entry := s.nextEntry(f); entry != nil {
		s.moments = append(s.moments, StoryMoment{Finding: *entry, cause: &f})
	}
}

// findOrAddCause returns the moment that led to a finding, and adds that moment if necessary; nil if no cause is known.
func (s *storyBuilder) findOrAddCause(f Finding) *Finding {
	switch f.Kind {
	case ExpiredAtWork:
		return s.addPauseCause(f)
	case RemovedLock, ExtendedLock: // The sale took the other's lock for its own.
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

// find returns the first moment for which matches reports true; nil if there is none.
func (s *storyBuilder) find(matches func(Finding) bool) *Finding {
	for _, t := range s.moments {
		if matches(t.Finding) {
			return &t.Finding
		}
	}
	return nil
}

// addUncaused adds a moment without a known cause.
func (s *storyBuilder) addUncaused(f Finding) *Finding {
	s.moments = append(s.moments, StoryMoment{Finding: f})
	return &f
}

// addPauseCause adds the pause of the replica during which a sale's lock expired.
func (s *storyBuilder) addPauseCause(f Finding) *Finding {
	for _, stop := range s.account.Stops {
		if stop.Replica == ReplicaOf(f.Subject) && stop.Contains(f.At) {
			return s.addUncaused(Finding{Kind: ReplicaPaused, At: stop.From, Subject: f.Subject})
		}
	}
	return nil
}

// addDeathCause adds the death of the replica that left its lock behind.
func (s *storyBuilder) addDeathCause(f Finding) *Finding {
	if died := s.account.diedAt[ReplicaOf(f.Subject)]; died.Equal(f.At) {
		return s.addUncaused(Finding{Kind: ReplicaDied, At: died, Subject: f.Subject})
	}
	return nil
}

// nextEntry returns the finding that a sale entered after a lock was lost, while the sale that had lost it was in the critical section; nil
// if there was no such sale.
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
	for _, section := range s.account.CriticalSections {
		isLater := !section.From.Before(f.At) || f.Kind == OverwroteLock && isHeldBy(f.Subject, section.Sale)
		if isLater && !isHeldBy(victim, section.Sale) && (next == nil || section.From.Before(next.From)) {
			next = section
		}
	}
	for _, section := range s.account.CriticalSections {
		if next != nil && section.Segment == next.Segment && isHeldBy(victim, section.Sale) && section.Contains(next.From) {
			return &Finding{Kind: EnteredOccupied, At: next.From, Subject: next.Sale, Other: section.Sale}
		}
	}
	return nil
}

// addOverlapCause adds the moment at which the second of two sales entered, unless it is known.
func (s *storyBuilder) addOverlapCause(f Finding) *Finding {
	known := s.find(func(before Finding) bool {
		isPair := before.Subject == f.Subject && before.Other == f.Other || before.Subject == f.Other && before.Other == f.Subject
		return before.Kind == EnteredOccupied && isPair
	})
	if known != nil {
		return known
	}
	first, second := s.sectionBefore(f.Other, f.At), s.sectionBefore(f.Subject, f.At)
	if first == nil || second == nil {
		return nil
	}
	if second.From.Before(first.From) {
		first, second = second, first
	}
	if !first.Contains(second.From) {
		return nil
	}
	return s.addUncaused(Finding{Kind: EnteredOccupied, At: second.From, Subject: second.Sale, Other: first.Sale})
}

// sectionBefore returns a sale's last visit to the critical section that began before a time; nil if there is none.
func (s *storyBuilder) sectionBefore(sale string, at time.Time) *CriticalSection {
	for _, section := range slices.Backward(s.account.CriticalSections) {
		if section.Sale == sale && !section.From.After(at) {
			return section
		}
	}
	return nil
}

// orderedMoments returns the first maxMoments moments in order, without repetitions, each with the positions of its causes.
func (s *storyBuilder) orderedMoments() []StoryMoment {
	slices.SortStableFunc(s.moments, func(a, b StoryMoment) int {
		rank := func(k FindingKind) int { return slices.Index(storyKinds(), k) }
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(rank(a.Kind), rank(b.Kind)))
	})
	moments := slices.CompactFunc(s.moments, func(a, b StoryMoment) bool { return a.Finding == b.Finding })
	moments = moments[:min(len(moments), maxMoments)]
	for i, t := range moments {
		if before := slices.IndexFunc(moments[:i], func(b StoryMoment) bool { return t.cause != nil && b.Finding == *t.cause }); before >= 0 {
			moments[i].Causes = []int{before + 1}
		}
	}
	return moments
}

// keepForStory keeps a finding that a story may have.
func (a *Account) keepForStory(f Finding) {
	if slices.Contains(storyKinds(), f.Kind) && a.FindingCounts[f.Kind] <= maxStoryFindings {
		a.storyFindings = append(a.storyFindings, f)
	}
}
