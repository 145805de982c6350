package witness_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lockstep/internal/witness"
)

// recordedAccount returns an account that has recorded some events, and waits one second for late replies.
func recordedAccount(limits witness.Limits, play func(*eventScript)) *witness.Account {
	limits.MaxReplyDelay = time.Second
	var s eventScript
	play(&s)
	a := witness.NewAccount(limits)
	for _, event := range s {
		a.Record(event)
	}
	return a
}

// An event that contradicts the known state waits for a reply that explains it, but not forever; a reply that comes too late is not taken
// for a foreign release.
func TestAccountWaitsForLateReply(t *testing.T) {
	late := witness.Event{
		Kind: witness.KindCommand, Replica: "r1", Sale: "r1#1", Sent: at(10), Replied: at(1200),
		Command: &witness.Command{Verb: witness.Removes, Outcome: witness.Done, Holder: "r1#1", Forced: true},
	}
	a := recordedAccount(witness.Limits{}, func(s *eventScript) {
		s.takes(0, "r1#1", 0)
		s.takes(12, "r2#1", 0) // The release of r1#1 was before that.
	})
	if len(a.Holdings) != 1 || a.Sale("r2#1").InCriticalSection() {
		t.Fatalf("before the delay: got holding %+v, want only the first, and r2#1 outside", a.Holdings[len(a.Holdings)-1])
	}
	a.Settle(at(1100))
	if len(a.Holdings) != 2 || a.Holdings[0].End != witness.Vanished || !a.Sale("r2#1").InCriticalSection() {
		t.Fatalf("after the delay: got first holding %+v, want it vanished, and r2#1 in the critical section", a.Holdings[0])
	}
	a.Record(late)
	if found := a.TakeFindings(); len(found) > 0 || a.Holdings[0].End != witness.GivenBack || a.Holdings[1].End != witness.Ongoing {
		t.Errorf("after the reply: got holdings %+v and %+v, findings %+v; want given back, ongoing, none", a.Holdings[0], a.Holdings[1], found)
	}
}

// The end of a sale may never be seen, because its replica's events were dropped, or its process was restarted. The sale does not stay in
// the critical section forever.
func TestSaleWithUnseenEndIsForgotten(t *testing.T) {
	for name, ends := range map[string]func(*witness.Account){
		"a gap": func(a *witness.Account) {
			a.Record(witness.Event{Kind: witness.KindGap, Replica: "r1", Sent: at(90), Replied: at(90)})
		},
		"another process": func(a *witness.Account) {
			a.Record(witness.Event{Kind: witness.KindAsks, Replica: "r1", Sale: "r1#1", Process: "b", Sent: at(100), Replied: at(100)})
			a.Record(witness.Event{Kind: witness.KindEnds, Replica: "r1", Sale: "r1#1", Sent: at(101), Replied: at(101)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := recordedAccount(witness.Limits{}, func(s *eventScript) {
				s.takes(0, "r1#1", 50)
				(*s)[0].Process = "a"
				s.moment(10, witness.KindAsks, "r1#2")
				s.visit(20, 20, 30, "r2#1") // overlapping with r1#1
			})
			if len(a.ProvisionalFindings(at(90), 0)) != 1 || len(a.ActiveSales) != 2 {
				t.Fatalf("before, there are %d sales, and what stands is %v", len(a.ActiveSales), a.ProvisionalFindings(at(90), 0))
			}
			ends(a)
			a.Record(witness.Event{Kind: witness.KindAsks, Replica: "r2", Sale: "r2#2", Sent: at(1000), Replied: at(1000)})
			a.Record(witness.Event{Kind: witness.KindObtains, Replica: "r2", Sale: "r2#2", Sent: at(1000), Replied: at(1000)})
			if standing := a.ProvisionalFindings(at(2000), 0); len(standing) > 0 || len(a.ActiveSales) != 1 {
				t.Errorf("%d sales go on, and what stands is %v", len(a.ActiveSales), standing)
			}
		})
	}
}

// An account with limits remembers what goes on, and little of what is over, and counts everything.
func TestAccountWithLimitsIsBounded(t *testing.T) {
	const sales, few = 5000, 5
	a := recordedAccount(witness.Limits{MaxEvents: 100, MaxPerKind: few}, func(s *eventScript) {
		s.takes(0, "r9#1", 0) // a sale that never ends
		for i := range sales {
			name := fmt.Sprintf("r1#%d", i+1)
			s.stock(10*i, name, witness.Reads, int64(i))
			s.stock(10*i+15, name, witness.Writes, int64(sales+i))
			s.moment(10*i+6, witness.KindAsks, name)
			s.command(10*i+6, 10*i+7, name, witness.Command{Verb: witness.Takes, Outcome: witness.Refused})
			s.moment(10*i+7, witness.KindLeaves, name)
			s.moment(10*i+8, witness.KindEnds, name)
			s.replicaEvent(10*i+9, witness.KindStops, "r1")
			s.replicaEvent(10*i+9, witness.KindResumes, "r1")
		}
	})
	for what, n := range map[string]int{
		"events": len(a.Events), "sales": len(a.Sales), "holdings": len(a.Holdings), "sections": len(a.CriticalSections),
		"findings": len(a.Findings), "stops": len(a.Stops),
	} {
		if n == 0 || n > 1000 {
			t.Errorf("got %d %s, want 1 to 1000", n, what)
		}
	}
	if len(a.ActiveSales) != 1 || !a.Sale("r9#1").InCriticalSection() || a.Sale("r1#1") == nil || a.Sale("r1#3") != nil {
		t.Errorf("%d sales go on; want the one that never ended, and of those that ended long ago only the story's", len(a.ActiveSales))
	}
	found := a.TakeFindings()
	lost := slices.DeleteFunc(slices.Clone(found), func(f witness.Finding) bool { return f.Kind != witness.LostUpdate })
	if len(lost) != few || a.FindingCounts[witness.LostUpdate] != sales-1 || len(a.TakeFindings()) > 0 {
		t.Errorf("got %d lost updates in Findings and %d counted, want %d and %d", len(lost), a.FindingCounts[witness.LostUpdate], few, sales-1)
	}
}

// An account that records its events again has the counts from before, including those of dropped events. Only a lost update at the border
// of the kept events may have lost its other half.
func TestWithoutEventsKeepsEarlierCounts(t *testing.T) {
	for _, sales := range []int{20, 100, 1000, 1037} {
		a := recordedAccount(witness.Limits{MaxEvents: 100}, func(s *eventScript) {
			for i := range sales {
				name := fmt.Sprintf("r1#%d", i+1)
				s.stock(10*i, name, witness.Reads, int64(i))
				s.stock(10*i+15, name, witness.Writes, int64(sales+i))
			}
		})
		replayed := a.WithoutEvents()
		for _, event := range a.Events {
			replayed.Record(event)
		}
		before, after := a.FindingCounts[witness.LostUpdate], replayed.FindingCounts[witness.LostUpdate]
		if before != sales-1 || after > before || after < before-1 || len(replayed.Events) > len(a.Events) {
			t.Errorf("%d sales: got %d lost updates and %d events after the replay, want %d updates",
				sales, after, len(replayed.Events), before)
		}
	}
}
