package live

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/witness"
)

const (
	maxPerKind      = 5               // findings of a kind that are sent at once
	maxFindings     = 300             // of a run
	maxCostFindings = 200             // of them, those that only say what the lock costs
	resendInterval  = 2 * time.Second // until a finding that says more by now is sent again
	maxNamedSales   = 3               // sales that a finding about a replica names
)

// findings are what the account finds in a run, as it is sent: of many alike only some.
type findingLog struct {
	standing     map[findingKey]*sentFinding // what was so when it was told, by what tells them apart
	sent         []*sentFinding              // those that are sent
	unsentFrames []localized                 // to be sent
	recentCounts map[string]int              // how many of a kind are among them

	eventCounts map[string]int // how many there were of each kind
}

// finding is one that is told, or counted alone.
type sentFinding struct {
	witness.Finding
	id       string // "" if it is counted alone
	kind     string
	atMillis int64
	sales    []string
	isBad    bool
	sentence func(language.Language) string
	sentAt   time.Time
}

func newFindingLog() *findingLog {
	return &findingLog{standing: map[findingKey]*sentFinding{}, eventCounts: map[string]int{}, recentCounts: map[string]int{}}
}

// take takes what was found since it was asked last, and what is so now.
func (f *findingLog) update(s *scene, now time.Time) {
	for _, one := range s.account.TakeFindings() {
		f.recordFinal(s, one, now)
	}
	before := f.standing
	f.standing = maps.Clone(before)
	maps.DeleteFunc(f.standing, func(key findingKey, _ *sentFinding) bool { return key.kind != witness.Overlapped })
	for _, one := range s.account.ProvisionalFindings(now, maxPerKind) {
		f.recordProvisional(s, one, before[findingKeyOf(one)], now)
	}
	for key := range before {
		if f.standing[key] == nil && key.kind != witness.Overtaken { // whoever is not overtaken any more was found to have been
			f.eventCounts[string(key.kind)]++
		}
	}
	f.endOverlaps(s, now)
}

// key is what tells a finding from others.
type findingKey struct {
	kind   witness.FindingKind
	by, of string
}

func findingKeyOf(f witness.Finding) findingKey { return findingKey{f.Kind, f.Subject, f.Other} }

// settle takes a finding that will not change any more. That two are not inside together any more, part tells of those of whom it was told
// that they are.
func (f *findingLog) recordFinal(s *scene, one witness.Finding, now time.Time) {
	switch before := f.standing[findingKeyOf(one)]; {
	case before == nil:
		f.send(s.newFinding(one, now))
	case one.Kind != witness.Overlapped:
		f.resend(before, one.Sentence, now)
		delete(f.standing, findingKeyOf(one))
	}
}

// place takes a finding that may change, as it was told before, or not yet: it is sent again if it says more by now.
func (f *findingLog) recordProvisional(s *scene, one witness.Finding, before *sentFinding, now time.Time) {
	together := one.Kind == witness.Overlapped
	switch {
	case before == nil:
		before = s.newFinding(one, now)
		if together {
			before.sentence = overlapText(one.Subject, one.Other).In
		}
		f.send(before)
	case !together && now.Sub(before.sentAt) >= resendInterval && one.Sentence(language.English) != before.sentence(language.English):
		f.resend(before, one.Sentence, now)
	}
	if !together || before.id != "" {
		f.standing[findingKeyOf(one)] = before
	}
}

// part tells for how long two were inside together who are not any more.
func (f *findingLog) endOverlaps(s *scene, now time.Time) {
	for _, told := range f.sent {
		key := findingKeyOf(told.Finding)
		if told.Kind != witness.Overlapped || f.standing[key] != told {
			continue
		}
		first, second := s.account.Sale(told.Subject), s.account.Sale(told.Other)
		switch {
		case first == nil || second == nil:
			delete(f.standing, key)
		case !first.LeftAt.IsZero() && !second.LeftAt.IsZero():
			delete(f.standing, key)
			parted := told.Finding
			parted.Duration = witness.Millis(witness.Earlier(first.LeftAt, second.LeftAt).Sub(second.ObtainedAt))
			f.resend(told, parted.Sentence, now)
		}
	}
}

// counts are how many there are of each kind. Of those inside together, they are counted when they have parted.
func (f *findingLog) counts(a *witness.Account) map[string]int {
	counts := maps.Clone(f.eventCounts)
	for kind, n := range a.FindingCounts {
		counts[string(kind)] += n
	}
	for key := range f.standing {
		if key.kind != witness.Overlapped {
			counts[string(key.kind)]++
		}
	}
	return counts
}

// again sends a finding again, if it was sent, in other words.
func (f *findingLog) resend(one *sentFinding, says func(language.Language) string, now time.Time) {
	one.sentence, one.sentAt = says, now
	if one.id != "" {
		f.unsentFrames = append(f.unsentFrames, one.frame())
	}
}

// send sends a finding, unless there are many alike.
func (f *findingLog) send(one *sentFinding) {
	most := maxFindings
	if one.Kind != "" && !one.isBad {
		most = maxCostFindings
	}
	if f.recentCounts[one.kind]++; f.recentCounts[one.kind] > maxPerKind || len(f.sent) >= most {
		return
	}
	f.sent = append(f.sent, one)
	one.id = fmt.Sprintf("f%d", len(f.sent))
	f.unsentFrames = append(f.unsentFrames, one.frame())
}

// finding is one of the account's, as it is told.
func (s *scene) newFinding(f witness.Finding, now time.Time) *sentFinding {
	one := &sentFinding{Finding: f, kind: string(f.Kind), atMillis: s.millis(f.At), sales: []string{}, isBad: f.Kind.IsBad(), sentAt: now, sentence: f.Sentence}
	for _, name := range []string{f.Subject, f.Other} {
		if s.account.Sale(name) == nil { // of a replica, the one that was inside there
			name = s.account.SaleInCriticalSection(name, f.At)
		}
		if name != "" && !slices.Contains(one.sales, name) {
			one.sales = append(one.sales, name)
		}
	}
	return one
}

func (f *findingLog) addReplicaEvent(s *scene, event witness.Event) {
	one := &sentFinding{atMillis: s.millis(event.Replied), kind: string(event.Kind), sales: []string{}, sentence: event.Sentence}
	for _, sale := range s.account.ActiveSales {
		if sale.Replica == event.Replica && len(one.sales) < maxNamedSales {
			one.sales = append(one.sales, sale.Name)
		}
	}
	f.eventCounts[one.kind]++
	f.send(one)
}

// newFindings gives the frames of those found since it was asked last.
func (f *findingLog) takeFrames() []localized {
	frames := f.unsentFrames
	f.unsentFrames = nil
	clear(f.recentCounts)
	return frames
}

// frame tells of a finding. What happens to a replica needs no explanation.
func (f *sentFinding) frame() localized {
	return localize(func(in language.Language) any {
		frame := FindingFrame{ID: f.id, At: f.atMillis, Kind: f.kind, Sentence: f.sentence(in), Sales: f.sales, Bad: f.isBad}
		if f.Kind != "" {
			frame.Explanation = f.Why(in)
		}
		return frame
	})
}

func (f *findingLog) marks(sale string, in language.Language) []LaneMark {
	marks := []LaneMark{}
	for _, one := range slices.Backward(f.sent) {
		if len(marks) < maxMarks && slices.Contains(one.sales, sale) {
			marks = append(marks, LaneMark{At: one.atMillis, Sentence: one.sentence(in), Bad: one.isBad})
		}
	}
	slices.Reverse(marks)
	return marks
}
