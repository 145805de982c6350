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
	maxPerKind      = 5               // findings of a kind that are sent in one frame interval
	maxFindings     = 300             // findings of a run that are sent
	maxCostFindings = 200             // findings of a run that are sent although they are only costs of the lock
	resendInterval  = 2 * time.Second // shortest time after which a finding is sent again because its text has changed
	maxNamedSales   = 3               // sales that a finding about a replica names
)

// findingLog holds the findings of a run as they are sent. Of many of the same kind, only some are sent.
type findingLog struct {
	standing     map[findingKey]*sentFinding // provisional findings, by what tells them apart
	sent         []*sentFinding              // findings that were sent, oldest first
	unsentFrames []localized                 // frames that are not sent yet
	recentCounts map[string]int              // number of findings of each kind since the last call of takeFrames

	eventCounts map[string]int // number of events of replicas, and of past provisional findings, by kind
}

// sentFinding is a finding that was sent, or only counted.
type sentFinding struct {
	witness.Finding
	id       string // id of the frame; empty if the finding is only counted
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

// update takes the account's findings since the last call, and those that hold at now.
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
		if f.standing[key] == nil && key.kind != witness.Overtaken { // The end of an overtaking is a final finding.
			f.eventCounts[string(key.kind)]++
		}
	}
	f.endOverlaps(s, now)
}

// findingKey tells findings apart.
type findingKey struct {
	kind   witness.FindingKind
	by, of string
}

// findingKeyOf returns the key of a finding.
func findingKeyOf(f witness.Finding) findingKey { return findingKey{f.Kind, f.Subject, f.Other} }

// recordFinal takes a finding that will not change any more. The ends of overlaps that were sent as provisional are left to endOverlaps.
func (f *findingLog) recordFinal(s *scene, one witness.Finding, now time.Time) {
	before := f.standing[findingKeyOf(one)]
	switch {
	case before == nil:
		f.send(s.newFinding(one, now))
	case one.Kind != witness.Overlapped:
		f.resend(before, one.Sentence, now)
		delete(f.standing, findingKeyOf(one))
	}
}

// recordProvisional takes a finding that may change, with its form at the last call, or nil: it is sent again if its text has changed.
func (f *findingLog) recordProvisional(s *scene, one witness.Finding, before *sentFinding, now time.Time) {
	isOverlap := one.Kind == witness.Overlapped
	switch {
	case before == nil:
		before = s.newFinding(one, now)
		if isOverlap {
			before.sentence = overlapText(one.Subject, one.Other).In
		}
		f.send(before)
	case !isOverlap && now.Sub(before.sentAt) >= resendInterval && one.Sentence(language.English) != before.sentence(language.English):
		f.resend(before, one.Sentence, now)
	}
	if !isOverlap || before.id != "" {
		f.standing[findingKeyOf(one)] = before
	}
}

// endOverlaps sends again the overlaps that have ended, with their lengths.
func (f *findingLog) endOverlaps(s *scene, now time.Time) {
	for _, sent := range f.sent {
		key := findingKeyOf(sent.Finding)
		if sent.Kind != witness.Overlapped || f.standing[key] != sent {
			continue
		}
		first, second := s.account.Sale(sent.Subject), s.account.Sale(sent.Other)
		switch {
		case first == nil || second == nil:
			delete(f.standing, key)
		case !first.LeftAt.IsZero() && !second.LeftAt.IsZero():
			delete(f.standing, key)
			ended := sent.Finding
			ended.Duration = witness.Millis(witness.Earlier(first.LeftAt, second.LeftAt).Sub(second.ObtainedAt))
			f.resend(sent, ended.Sentence, now)
		}
	}
}

// counts returns the number of findings of each kind. An overlap counts when it has ended.
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

// resend gives a finding a new text, and sends it again if it was sent.
func (f *findingLog) resend(one *sentFinding, says func(language.Language) string, now time.Time) {
	one.sentence, one.sentAt = says, now
	if one.id != "" {
		f.unsentFrames = append(f.unsentFrames, one.frame())
	}
}

// send sends a finding, unless there are many of its kind.
func (f *findingLog) send(one *sentFinding) {
	limit := maxFindings
	if one.Kind != "" && !one.isBad {
		limit = maxCostFindings
	}
	if f.recentCounts[one.kind]++; f.recentCounts[one.kind] > maxPerKind || len(f.sent) >= limit {
		return
	}
	f.sent = append(f.sent, one)
	one.id = fmt.Sprintf("f%d", len(f.sent))
	f.unsentFrames = append(f.unsentFrames, one.frame())
}

// newFinding returns a finding of the account in the form in which it is sent.
func (s *scene) newFinding(f witness.Finding, now time.Time) *sentFinding {
	one := &sentFinding{
		Finding: f, kind: string(f.Kind), atMillis: s.millis(f.At), sales: []string{}, isBad: f.Kind.IsBad(), sentAt: now,
		sentence: f.Sentence,
	}
	for _, name := range []string{f.Subject, f.Other} {
		if s.account.Sale(name) == nil { // For a replica, the sale that was in the critical section there.
			name = s.account.SaleInCriticalSection(name, f.At)
		}
		if name != "" && !slices.Contains(one.sales, name) {
			one.sales = append(one.sales, name)
		}
	}
	return one
}

// addReplicaEvent adds an event of a replica or a Redis.
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

// takeFrames returns the frames of the findings since the last call.
func (f *findingLog) takeFrames() []localized {
	frames := f.unsentFrames
	f.unsentFrames = nil
	clear(f.recentCounts)
	return frames
}

// frame returns the finding's frame. An event of a replica needs no explanation.
func (f *sentFinding) frame() localized {
	return localize(func(in language.Language) any {
		frame := FindingFrame{ID: f.id, At: f.atMillis, Kind: f.kind, Sentence: f.sentence(in), Sales: f.sales, Bad: f.isBad}
		if f.Kind != "" {
			frame.Explanation = f.Why(in)
		}
		return frame
	})
}

// marks returns the latest findings about a sale, for its lane.
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
