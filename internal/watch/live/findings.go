package live

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

const (
	mostOfKind = 5               // findings of a kind that are sent at once
	mostSent   = 300             // of a run
	againTime  = 2 * time.Second // until a finding that says more by now is sent again
)

// findings are what went wrong in a run, and what is worth a sentence otherwise.
type findings struct {
	known map[string]*finding // by what tells them apart
	order []*finding          // those that are sent, the latest
	ids   int
	count map[string]int // by kind
	fresh []*finding     // to be sent
	burst map[string]int // how many of a kind are among them
	open  map[string]*pair
}

// finding is one that is told, or counted alone.
type finding struct {
	id    string // "" if it is counted alone
	at    int64
	kind  string
	sales []string
	bad   bool
	says  func(language.Language) string
	sent  time.Time
}

// pair is two sales of which it was told that they are inside together.
type pair struct {
	told          *finding
	first, second *sale
}

func newFindings() *findings {
	return &findings{known: map[string]*finding{}, count: map[string]int{}, burst: map[string]int{}, open: map[string]*pair{}}
}

// take takes what was found among the latest events.
func (f *findings) take(s *scene, found []witness.Finding, certain, now time.Time) {
	for _, one := range found {
		if one.At.Before(certain) || one.Kind == witness.RefusedToken && one.Seen == 0 {
			continue
		}
		key := fmt.Sprint(one.Kind, one.By, one.Of, one.Node, one.Token, one.Wrote, one.Read)
		if before, is := f.known[key]; is {
			f.again(key, before, one.Says, now)
			continue
		}
		f.add(key, &finding{
			at: s.at(one.At), kind: string(one.Kind), sales: salesOf(s, one.At, one.By, one.Of), bad: isBad(one.Kind), says: one.Says, sent: now,
		})
	}
}

// again sends a finding again if it says more by now.
func (f *findings) again(key string, before *finding, says func(language.Language) string, now time.Time) {
	if before.id == "" || now.Sub(before.sent) < againTime || says(language.English) == before.says(language.English) {
		return
	}
	f.known[key] = f.replace(before, says, now)
}

// replace sends a finding again, in other words. Those that were sent stay as they are: somebody may be reading them.
func (f *findings) replace(before *finding, says func(language.Language) string, now time.Time) *finding {
	next := *before
	next.says, next.sent = says, now
	f.fresh = append(f.fresh, &next)
	if i := slices.Index(f.order, before); i >= 0 {
		f.order[i] = &next
	}
	return &next
}

// add counts a finding, and sends it unless there are many alike.
func (f *findings) add(key string, one *finding) {
	f.known[key] = one
	f.count[one.kind]++
	f.send(one)
}

func (f *findings) send(one *finding) {
	if f.burst[one.kind]++; f.burst[one.kind] > mostOfKind || f.ids >= mostSent {
		return
	}
	f.ids++
	one.id = fmt.Sprintf("f%d", f.ids)
	if f.order = append(f.order, one); len(f.order) > mostSent {
		f.order = slices.Clone(f.order[mostSent/2:])
	}
	f.fresh = append(f.fresh, one)
}

// pairKey is the key of two sales that were inside together.
func pairKey(a, b *sale) string { return "pair " + min(a.name, b.name) + " " + max(a.name, b.name) }

// entered tells that a sale has come in where others are.
func (f *findings) entered(s *scene, one *sale) {
	if !s.excludes {
		return
	}
	for _, other := range s.asked {
		if other == one || !other.inside() {
			continue
		}
		if f.burst[string(witness.Together)] >= mostOfKind { // they are counted when they part
			return
		}
		told := f.together(s, other, one)
		if f.send(told); told.id != "" {
			f.open[pairKey(one, other)] = &pair{told: told, first: other, second: one}
		}
	}
}

func (f *findings) together(s *scene, first, second *sale) *finding {
	return &finding{
		at: s.at(second.obtained), kind: string(witness.Together), sales: []string{first.name, second.name}, bad: true,
		says: func(in language.Language) string { return areTogether(first.name, second.name).In(in) },
	}
}

// parted tells of two that were inside together, and are not any more. The second left last.
func (f *findings) parted(s *scene, first, second *sale) {
	f.count[string(witness.Together)]++
	key := pairKey(first, second)
	before := f.open[key]
	delete(f.open, key)
	if before == nil && f.burst[string(witness.Together)] >= mostOfKind {
		return
	}
	from := latest(first.obtained, second.obtained)
	says := witness.Finding{
		Kind: witness.Together, By: first.name, Of: second.name, For: witness.Millis(earliest(first.left, second.left).Sub(from)),
	}.Says
	if before != nil {
		f.replace(before.told, says, second.left)
		return
	}
	one := f.together(s, first, second)
	one.at, one.says = s.at(from), says
	f.send(one)
}

// correct takes back that a sale was inside together with others, where it was not: its replica was silent for a while, and tells only now
// that it had left before.
func (f *findings) correct(one *sale) {
	for key, p := range f.open {
		if p.first != one && p.second != one || p.first.left.IsZero() || p.first.left.After(p.second.obtained) {
			continue
		}
		delete(f.open, key)
		next := *p.told
		next.bad = false
		if i := slices.Index(f.order, p.told); i >= 0 {
			f.order[i] = &next
		}
		f.replace(&next, notTogether(p.first.name, p.second.name).In, one.left)
	}
}

// happened tells of what happens to a replica.
func (f *findings) happened(s *scene, event witness.Event) {
	sales := []string{}
	for _, one := range s.asked {
		if one.replica == event.Replica && one.ended.IsZero() && len(sales) < mostNamed {
			sales = append(sales, one.name)
		}
	}
	f.count[string(event.Kind)]++
	f.send(&finding{at: s.at(event.Replied), kind: string(event.Kind), sales: sales, says: event.Says})
}

// newFindings gives the frames of those found since it was asked last.
func (s *scene) newFindings() (frames []func(language.Language) any) {
	f := s.found
	for _, one := range f.fresh {
		sent := *one
		frames = append(frames, func(in language.Language) any {
			return FindingFrame{
				ID: sent.id, At: sent.at, Kind: sent.kind, Says: sent.says(in), Why: why(sent.kind).In(in), Sales: sent.sales, Bad: sent.bad,
			}
		})
	}
	f.fresh = nil
	clear(f.burst)
	if len(f.known) > 1<<14 { // the oldest are not found again
		clear(f.known)
	}
	return frames
}

// marks are the findings about each of some sales.
func (f *findings) marks(sales []*sale) [][]*finding {
	marks := make([][]*finding, len(sales))
	for i, one := range sales {
		for k := len(f.order) - 1; k >= 0 && len(marks[i]) < mostMarks; k-- {
			if slices.Contains(f.order[k].sales, one.name) {
				marks[i] = append(marks[i], f.order[k])
			}
		}
		slices.Reverse(marks[i])
	}
	return marks
}

// counts are how many there are of each kind.
func (f *findings) counts() map[string]int { return maps.Clone(f.count) }

// salesOf are the sales of some names: of a replica's, the one that was inside there at a moment.
func salesOf(s *scene, at time.Time, names ...string) []string {
	sales := []string{}
	for _, name := range names {
		if s.sales[name] == nil {
			name = s.insideAt(name, at)
		}
		if name != "" && !slices.Contains(sales, name) {
			sales = append(sales, name)
		}
	}
	return sales
}

// insideAt gives the sale of a replica that was inside at a moment; "" if there was none.
func (s *scene) insideAt(replica string, at time.Time) string {
	for i := len(s.asked) - 1; i >= 0; i-- {
		one := s.asked[i]
		if one.replica == replica && !one.obtained.IsZero() && !one.obtained.After(at) && (one.left.IsZero() || !one.left.Before(at)) {
			return one.name
		}
	}
	return ""
}

// isBad reports whether a finding is of something that went wrong, and not only of what it costs.
func isBad(kind witness.FindingKind) bool {
	switch kind {
	case witness.Waited, witness.WaitedInVain, witness.Polled, witness.Overtaken, witness.Idle, witness.Told,
		witness.DiedHolding, witness.PassedOver, witness.PlaceExpired:
		return false
	default:
		return true
	}
}
