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
	maxPerKind      = 5               // largest number of findings of a kind that are sent in one frame interval
	maxFindings     = 300             // largest number of findings of a run that are sent
	maxCostFindings = 200             // number of sent findings of a run from which mere costs of the lock are no longer sent
	resendInterval  = 2 * time.Second // shortest time after which a finding is sent again because its text has changed
	maxNamedSales   = 3               // largest number of sales that a finding about a replica names
)

// findingLog holds the findings of a run as they are sent. Of many of the same kind, only some are sent.
type findingLog struct {
	provisional  map[findingKey]*sentFinding // findings that may still change, and overlaps whose end was not sent
	sent         []*sentFinding              // findings that were sent, oldest first
	unsentFrames []localized                 // frames that are not sent yet
	recentCounts map[string]int              // number of findings of each kind since the last call of takeFrames

	eventCounts map[string]int // number of events of replicas, and of past provisional findings, by kind
}

// sentFinding is a finding, or an event of a replica, that was sent or only counted.
type sentFinding struct {
	witness.Finding                                // zero: an event of a replica
	id              string                         // id of the frame; empty: the finding is only counted
	kind            string                         // key of RunFrame.Kinds
	atMillis        int64                          // time in milliseconds since the run's first event
	sales           []string                       // names of the sales that the finding concerns
	isBad           bool                           // the finding is a flaw
	sentence        func(language.Language) string // returns the sentence about the finding
	sentAt          time.Time                      // time at which the present sentence was sent
}

// newFindingLog returns an empty log.
func newFindingLog() *findingLog {
	return &findingLog{provisional: map[findingKey]*sentFinding{}, eventCounts: map[string]int{}, recentCounts: map[string]int{}}
}

// update adds the account's findings since the last call, and its provisional findings at now.
func (l *findingLog) update(s *scene, now time.Time) {
	for _, f := range s.account.TakeFindings() {
		l.recordFinal(s, f, now)
	}
	before := l.provisional
	l.provisional = maps.Clone(before)
	maps.DeleteFunc(l.provisional, func(key findingKey, _ *sentFinding) bool { return key.kind != witness.Overlapped })
	for _, f := range s.account.ProvisionalFindings(now, maxPerKind) {
		l.recordProvisional(s, f, before[findingKeyOf(f)], now)
	}
	for key := range before {
		if l.provisional[key] == nil && key.kind != witness.Overtaken { // The end of an overtaking is a final finding.
			l.eventCounts[string(key.kind)]++
		}
	}
	l.endOverlaps(s, now)
}

// findingKey identifies a finding.
type findingKey struct {
	kind           witness.FindingKind
	subject, other string
}

// findingKeyOf returns the key of a finding.
func findingKeyOf(f witness.Finding) findingKey { return findingKey{f.Kind, f.Subject, f.Other} }

// recordFinal adds a finding that will not change any more. If it is an overlap that was sent as provisional, recordFinal leaves it to
// endOverlaps.
func (l *findingLog) recordFinal(s *scene, f witness.Finding, now time.Time) {
	before := l.provisional[findingKeyOf(f)]
	switch {
	case before == nil:
		l.send(s.newFinding(f, now))
	case f.Kind != witness.Overlapped:
		l.resend(before, f.Sentence, now)
		delete(l.provisional, findingKeyOf(f))
	}
}

// recordProvisional adds a finding that may change. before is the finding at the last call, or nil. A finding is sent again if its text has
// changed.
func (l *findingLog) recordProvisional(s *scene, f witness.Finding, before *sentFinding, now time.Time) {
	isOverlap := f.Kind == witness.Overlapped
	switch {
	case before == nil:
		before = s.newFinding(f, now)
		if isOverlap {
			before.sentence = overlapText(f.Subject, f.Other).In
		}
		l.send(before)
	case !isOverlap && now.Sub(before.sentAt) >= resendInterval && f.Sentence(language.English) != before.sentence(language.English):
		l.resend(before, f.Sentence, now)
	}
	if !isOverlap || before.id != "" {
		l.provisional[findingKeyOf(f)] = before
	}
}

// endOverlaps sends each overlap that has ended once more, now with its length.
func (l *findingLog) endOverlaps(s *scene, now time.Time) {
	for _, sent := range l.sent {
		key := findingKeyOf(sent.Finding)
		if sent.Kind != witness.Overlapped || l.provisional[key] != sent {
			continue
		}
		first, second := s.account.Sale(sent.Subject), s.account.Sale(sent.Other)
		switch {
		case first == nil || second == nil:
			delete(l.provisional, key)
		case !first.LeftAt.IsZero() && !second.LeftAt.IsZero():
			delete(l.provisional, key)
			ended := sent.Finding
			ended.Duration = witness.Millis(witness.EarlierOf(first.LeftAt, second.LeftAt).Sub(second.ObtainedAt))
			l.resend(sent, ended.Sentence, now)
		}
	}
}

// counts returns the number of findings of each kind. An overlap counts once it has ended.
func (l *findingLog) counts(a *witness.Account) map[string]int {
	counts := maps.Clone(l.eventCounts)
	for kind, n := range a.FindingCounts {
		counts[string(kind)] += n
	}
	for key := range l.provisional {
		if key.kind != witness.Overlapped {
			counts[string(key.kind)]++
		}
	}
	return counts
}

// resend gives a finding a new sentence, and sends the finding again if it was sent before.
func (l *findingLog) resend(f *sentFinding, sentence func(language.Language) string, now time.Time) {
	f.sentence, f.sentAt = sentence, now
	if f.id != "" {
		l.unsentFrames = append(l.unsentFrames, f.frame())
	}
}

// send sends a finding, unless many of its kind were sent already.
func (l *findingLog) send(f *sentFinding) {
	limit := maxFindings
	if f.Kind != "" && !f.isBad {
		limit = maxCostFindings
	}
	if l.recentCounts[f.kind]++; l.recentCounts[f.kind] > maxPerKind || len(l.sent) >= limit {
		return
	}
	l.sent = append(l.sent, f)
	f.id = fmt.Sprintf("f%d", len(l.sent))
	l.unsentFrames = append(l.unsentFrames, f.frame())
}

// newFinding returns a finding of the account in the form in which it is sent.
func (s *scene) newFinding(f witness.Finding, now time.Time) *sentFinding {
	sent := &sentFinding{
		Finding: f, kind: string(f.Kind), atMillis: s.millis(f.At), sales: []string{}, isBad: f.Kind.IsBad(), sentAt: now,
		sentence: f.Sentence,
	}
	for _, name := range []string{f.Subject, f.Other} {
		if s.account.Sale(name) == nil { // A replica is replaced by the sale that was in the critical section there.
			name = s.account.SaleInCriticalSection(name, f.At)
		}
		if name != "" && !slices.Contains(sent.sales, name) {
			sent.sales = append(sent.sales, name)
		}
	}
	return sent
}

// addReplicaEvent adds an event of a replica or a Redis as a finding.
func (l *findingLog) addReplicaEvent(s *scene, event witness.Event) {
	sent := &sentFinding{atMillis: s.millis(event.Replied), kind: string(event.Kind), sales: []string{}, sentence: event.Sentence}
	for _, sale := range s.account.ActiveSales {
		if sale.Replica == event.Replica && len(sent.sales) < maxNamedSales {
			sent.sales = append(sent.sales, sale.Name)
		}
	}
	l.eventCounts[sent.kind]++
	l.send(sent)
}

// takeFrames returns the frames of the findings since the last call.
func (l *findingLog) takeFrames() []localized {
	frames := l.unsentFrames
	l.unsentFrames = nil
	clear(l.recentCounts)
	return frames
}

// frame returns the finding's frame. The frame of an event of a replica has no explanation.
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
func (l *findingLog) marks(sale string, in language.Language) []LaneMark {
	marks := []LaneMark{}
	for _, f := range slices.Backward(l.sent) {
		if len(marks) < maxMarks && slices.Contains(f.sales, sale) {
			marks = append(marks, LaneMark{At: f.atMillis, Sentence: f.sentence(in), Bad: f.isBad})
		}
	}
	slices.Reverse(marks)
	return marks
}
