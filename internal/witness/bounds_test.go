package witness_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lockstep/internal/witness"
)

// watched is an account that has been told of a story, and waits for replies for a second.
func watched(limits witness.Limits, tell func(*story)) *witness.Account {
	limits.MaxReplyDelay = time.Second
	var s story
	tell(&s)
	a := witness.NewAccount(limits)
	for _, event := range s {
		a.Record(event)
	}
	return a
}

// What contradicts what is known waits for a reply that explains it, but not for ever; and one that comes too late is not taken for a
// foreign release.
func TestAnAccountWaitsForAReply(t *testing.T) {
	late := witness.Event{
		Kind: witness.KindCommand, Replica: "r1", Sale: "r1#1", Sent: at(10), Replied: at(1200),
		Command: &witness.Command{Verb: witness.Removes, Outcome: witness.Done, Holder: "r1#1", Forced: true},
	}
	a := watched(witness.Limits{}, func(s *story) {
		s.takes(0, "r1#1", 0)
		s.takes(12, "r2#1", 0) // the release of r1#1 was before
	})
	if len(a.Holdings) != 1 || a.Sale("r2#1").InCriticalSection() {
		t.Fatalf("before the time is up, the lock was already %+v", a.Holdings[len(a.Holdings)-1])
	}
	a.Settle(at(1100))
	if len(a.Holdings) != 2 || a.Holdings[0].End != witness.Vanished || !a.Sale("r2#1").InCriticalSection() {
		t.Fatalf("when the time is up, the lock was %+v", a.Holdings[0])
	}
	a.Record(late)
	if found := a.TakeFindings(); len(found) > 0 || a.Holdings[0].End != witness.GivenBack || a.Holdings[1].End != witness.Ongoing {
		t.Errorf("when the reply has come, the lock was %+v and %+v, and found is %+v", a.Holdings[0], a.Holdings[1], found)
	}
}

// What became of a sale is perhaps never told: its replica's events were too many, or its process is another one by now. It is not inside
// for ever.
func TestASaleWhoseEndIsNeverTold(t *testing.T) {
	for name, ends := range map[string]func(*witness.Account){
		"a gap": func(a *witness.Account) {
			a.Record(witness.Event{Kind: witness.KindGap, Replica: "r1", Sent: at(90), Replied: at(90)})
		},
		"another process": func(a *witness.Account) {
			a.Record(witness.Event{Kind: witness.KindAsks, Replica: "r1", Sale: "r1#1", Process: "b", Sent: at(100), Replied: at(100)})
			a.Record(witness.Event{Kind: witness.KindEnds, Replica: "r1", Sale: "r1#1", Sent: at(101), Replied: at(101)})
		},
	} {
		a := watched(witness.Limits{}, func(s *story) {
			s.takes(0, "r1#1", 50)
			(*s)[0].Process = "a"
			s.moment(10, witness.KindAsks, "r1#2")
			s.visit(20, 20, 30, "r2#1") // it is inside with r1#1
		})
		if len(a.ProvisionalFindings(at(90), 0)) != 1 || len(a.ActiveSales) != 2 {
			t.Fatalf("%s: before, there are %d sales, and what stands is %v", name, len(a.ActiveSales), a.ProvisionalFindings(at(90), 0))
		}
		ends(a)
		a.Record(witness.Event{Kind: witness.KindAsks, Replica: "r2", Sale: "r2#2", Sent: at(1000), Replied: at(1000)})
		a.Record(witness.Event{Kind: witness.KindObtains, Replica: "r2", Sale: "r2#2", Sent: at(1000), Replied: at(1000)})
		if standing := a.ProvisionalFindings(at(2000), 0); len(standing) > 0 || len(a.ActiveSales) != 1 {
			t.Errorf("%s: %d sales go on, and what stands is %v", name, len(a.ActiveSales), standing)
		}
	}
}

// An account with limits remembers what is going on, and little of what is over, however much there was. It counts everything.
func TestAnAccountIsBounded(t *testing.T) {
	const sales, few = 5000, 5
	a := watched(witness.Limits{MaxEvents: 100, MaxPerKind: few}, func(s *story) {
		s.takes(0, "r9#1", 0) // this one stays
		for i := range sales {
			name := fmt.Sprintf("r1#%d", i+1)
			s.stock(10*i, name, witness.Reads, int64(i))
			s.stock(10*i+15, name, witness.Writes, int64(sales+i))
			s.moment(10*i+6, witness.KindAsks, name)
			s.command(10*i+6, 10*i+7, name, witness.Command{Verb: witness.Takes, Outcome: witness.Refused})
			s.moment(10*i+7, witness.KindLeaves, name)
			s.moment(10*i+8, witness.KindEnds, name)
			s.befalls(10*i+9, witness.KindStops, "r1")
			s.befalls(10*i+9, witness.KindResumes, "r1")
		}
	})
	for what, n := range map[string]int{
		"events": len(a.Events), "sales": len(a.Sales), "holdings": len(a.Holdings), "sections": len(a.CriticalSections),
		"findings": len(a.Findings), "stops": len(a.Stops),
	} {
		if n == 0 || n > 1000 {
			t.Errorf("it keeps %d %s", n, what)
		}
	}
	if len(a.ActiveSales) != 1 || !a.Sale("r9#1").InCriticalSection() || a.Sale("r1#1") == nil || a.Sale("r1#3") != nil {
		t.Errorf("%d sales go on; want the one that never ended, and of those that ended long ago only the story's", len(a.ActiveSales))
	}
	found := a.TakeFindings()
	told := slices.DeleteFunc(slices.Clone(found), func(f witness.Finding) bool { return f.Kind != witness.LostUpdate })
	if len(told) != few || a.FindingCounts[witness.LostUpdate] != sales-1 || len(a.TakeFindings()) > 0 {
		t.Errorf("%d lost updates are told, and %d counted; want %d and %d", len(told), a.FindingCounts[witness.LostUpdate], few, sales-1)
	}
}

// An account that is told of its events again counts what it counted before, also of what it keeps no more. Only the update that is lost
// at the border of what is kept has lost its other half.
func TestAnAccountIsToldAgain(t *testing.T) {
	for _, sales := range []int{20, 100, 1000, 1037} {
		a := watched(witness.Limits{MaxEvents: 100}, func(s *story) {
			for i := range sales {
				name := fmt.Sprintf("r1#%d", i+1)
				s.stock(10*i, name, witness.Reads, int64(i))
				s.stock(10*i+15, name, witness.Writes, int64(sales+i))
			}
		})
		anew := a.WithoutEvents()
		for _, event := range a.Events {
			anew.Record(event)
		}
		before, after := a.FindingCounts[witness.LostUpdate], anew.FindingCounts[witness.LostUpdate]
		if before != sales-1 || after > before || after < before-1 || len(anew.Events) > len(a.Events) {
			t.Errorf("of %d sales, %d lost updates are found, and told again %d, by %d events", sales, before, after, len(anew.Events))
		}
	}
}
