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
	mostOfKind = 5               // findings of a kind that are sent at once
	mostSent   = 300             // of a run
	mostCosts  = 200             // of them, those that only say what the lock costs
	againTime  = 2 * time.Second // until a finding that says more by now is sent again
	mostNamed  = 3               // sales that a finding about a replica names
)

// findings are what the account finds in a run, as it is sent: of many alike only some.
type findings struct {
	standing map[key]*finding // what was so when it was told, by what tells them apart
	order    []*finding       // those that are sent
	fresh    []texts          // to be sent
	burst    map[string]int   // how many of a kind are among them

	happenings map[string]int // how many there were of each kind
}

// finding is one that is told, or counted alone.
type finding struct {
	witness.Finding
	id    string // "" if it is counted alone
	kind  string
	at    int64
	sales []string
	bad   bool
	says  func(language.Language) string
	sent  time.Time
}

func newFindings() *findings {
	return &findings{standing: map[key]*finding{}, happenings: map[string]int{}, burst: map[string]int{}}
}

// take takes what was found since it was asked last, and what is so now.
func (f *findings) take(s *scene, now time.Time) {
	for _, one := range s.account.TakeFindings() {
		f.settle(s, one, now)
	}
	before := f.standing
	f.standing = maps.Clone(before)
	maps.DeleteFunc(f.standing, func(key key, _ *finding) bool { return key.kind != witness.Overlapped })
	for _, one := range s.account.ProvisionalFindings(now, mostOfKind) {
		f.place(s, one, before[keyOf(one)], now)
	}
	for key := range before {
		if f.standing[key] == nil && key.kind != witness.Overtaken { // whoever is not overtaken any more was found to have been
			f.happenings[string(key.kind)]++
		}
	}
	f.part(s, now)
}

// key is what tells a finding from others.
type key struct {
	kind   witness.FindingKind
	by, of string
}

func keyOf(f witness.Finding) key { return key{f.Kind, f.Subject, f.Other} }

// settle takes a finding that will not change any more. That two are not inside together any more, part tells of those of whom it was told
// that they are.
func (f *findings) settle(s *scene, one witness.Finding, now time.Time) {
	switch before := f.standing[keyOf(one)]; {
	case before == nil:
		f.send(s.finding(one, now))
	case one.Kind != witness.Overlapped:
		f.again(before, one.Sentence, now)
		delete(f.standing, keyOf(one))
	}
}

// place takes a finding that may change, as it was told before, or not yet: it is sent again if it says more by now.
func (f *findings) place(s *scene, one witness.Finding, before *finding, now time.Time) {
	together := one.Kind == witness.Overlapped
	switch {
	case before == nil:
		before = s.finding(one, now)
		if together {
			before.says = areTogether(one.Subject, one.Other).In
		}
		f.send(before)
	case !together && now.Sub(before.sent) >= againTime && one.Sentence(language.English) != before.says(language.English):
		f.again(before, one.Sentence, now)
	}
	if !together || before.id != "" {
		f.standing[keyOf(one)] = before
	}
}

// part tells for how long two were inside together who are not any more.
func (f *findings) part(s *scene, now time.Time) {
	for _, told := range f.order {
		key := keyOf(told.Finding)
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
			f.again(told, parted.Sentence, now)
		}
	}
}

// counts are how many there are of each kind. Of those inside together, they are counted when they have parted.
func (f *findings) counts(a *witness.Account) map[string]int {
	counts := maps.Clone(f.happenings)
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
func (f *findings) again(one *finding, says func(language.Language) string, now time.Time) {
	one.says, one.sent = says, now
	if one.id != "" {
		f.fresh = append(f.fresh, one.frame())
	}
}

// send sends a finding, unless there are many alike.
func (f *findings) send(one *finding) {
	most := mostSent
	if one.Kind != "" && !one.bad {
		most = mostCosts
	}
	if f.burst[one.kind]++; f.burst[one.kind] > mostOfKind || len(f.order) >= most {
		return
	}
	f.order = append(f.order, one)
	one.id = fmt.Sprintf("f%d", len(f.order))
	f.fresh = append(f.fresh, one.frame())
}

// finding is one of the account's, as it is told.
func (s *scene) finding(f witness.Finding, now time.Time) *finding {
	one := &finding{Finding: f, kind: string(f.Kind), at: s.at(f.At), sales: []string{}, bad: f.Kind.IsBad(), sent: now, says: f.Sentence}
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

func (f *findings) addReplicaEvent(s *scene, event witness.Event) {
	one := &finding{at: s.at(event.Replied), kind: string(event.Kind), sales: []string{}, says: event.Sentence}
	for _, sale := range s.account.ActiveSales {
		if sale.Replica == event.Replica && len(one.sales) < mostNamed {
			one.sales = append(one.sales, sale.Name)
		}
	}
	f.happenings[one.kind]++
	f.send(one)
}

// newFindings gives the frames of those found since it was asked last.
func (f *findings) newFindings() []texts {
	frames := f.fresh
	f.fresh = nil
	clear(f.burst)
	return frames
}

// frame tells of a finding. What happens to a replica needs no explanation.
func (f *finding) frame() texts {
	return inAll(func(in language.Language) any {
		frame := FindingFrame{ID: f.id, At: f.at, Kind: f.kind, Sentence: f.says(in), Sales: f.sales, Bad: f.bad}
		if f.Kind != "" {
			frame.Explanation = f.Why(in)
		}
		return frame
	})
}

func (f *findings) marks(sale string, in language.Language) []LaneMark {
	marks := []LaneMark{}
	for _, one := range slices.Backward(f.order) {
		if len(marks) < mostMarks && slices.Contains(one.sales, sale) {
			marks = append(marks, LaneMark{At: one.at, Sentence: one.says(in), Bad: one.bad})
		}
	}
	slices.Reverse(marks)
	return marks
}
