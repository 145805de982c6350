package witness_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lockstep/internal/watch/witness"
)

// watched is an account that has been told of a story, and waits for replies for a second.
func watched(limits witness.Limits, tell func(*story)) *witness.Account {
	limits.Patience = time.Second
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
		Kind: witness.KindCommand, Replica: "r1", Sale: "r1#1", Sent: at(10), Replied: at(20),
		Command: &witness.Command{Verb: witness.Removes, Outcome: witness.Done, Holder: "r1#1", Forced: true},
	}
	a := watched(witness.Limits{}, func(s *story) {
		s.takes(0, "r1#1", 0)
		s.takes(12, "r2#1", 0) // the release of r1#1 was before
	})
	if len(a.Holdings) != 1 || a.Sale("r2#1").IsInside() {
		t.Fatalf("before the time is up, the lock was already %+v", a.Holdings[len(a.Holdings)-1])
	}
	a.Settle(at(1100))
	if len(a.Holdings) != 2 || a.Holdings[0].End != witness.Gone || !a.Sale("r2#1").IsInside() {
		t.Fatalf("when the time is up, the lock was %+v", a.Holdings[0])
	}
	a.Record(late)
	if found := a.Take(); len(found) > 0 || a.Holdings[0].End != witness.GivenBack || a.Holdings[1].End != witness.Lasting {
		t.Errorf("when the reply has come, the lock was %+v and %+v, and found is %+v", a.Holdings[0], a.Holdings[1], found)
	}
}

// What a replica did before it was stopped is perhaps told long after: others have held the lock since, and nothing of theirs is ended,
// overwritten or lost by it.
func TestAReplicaIsToldOfLate(t *testing.T) {
	a := watched(witness.Limits{}, func(s *story) {
		s.takes(0, "r1#1", 500)
		s.stock(3, "r1#1", witness.Reads, 200) // its last word for a while
		var silent story
		silent.stock(10, "r1#1", witness.Writes, 199)
		silent.removes(12, "r1#1", witness.Done, true)
		silent.takes(20, "r1#2", 500)
		silent.stock(23, "r1#2", witness.Reads, 199)
		silent.stock(25, "r1#2", witness.Writes, 198)
		silent.renewal(26, "r1#2", "r1#2")
		silent.removes(30, "r1#2", witness.Done, true)
		for i := range 4 {
			ms, name := 1000+2000*i, fmt.Sprintf("r2#%d", i+1)
			s.takes(ms, name, 3000)
			s.stock(ms+10, name, witness.Reads, int64(198-i))
			if i == 3 {
				*s = append(*s, silent...)
			}
			s.stock(ms+1500, name, witness.Writes, int64(197-i))
			s.removes(ms+1700, name, witness.Done, true)
		}
	})
	a.Settle(at(10_000))
	if a.Found[witness.Together] > 0 || a.Found[witness.LostUpdate] > 0 || a.Found[witness.WroteLate] > 0 || a.Found[witness.Removed] > 0 ||
		a.Found[witness.Prolonged] > 0 {
		t.Errorf("found is %v", a.Found)
	}
	for _, h := range a.Holdings[1:] {
		if h.End != witness.GivenBack {
			t.Errorf("a holding of %s is %s", h.Holder, h.End)
		}
	}
}

// A replica that was silent tells late that a sale had obtained the lock, and had left: nobody has overtaken it, and the lock was not idle
// since then.
func TestASilentReplicaWasNotOvertaken(t *testing.T) {
	a := watched(witness.Limits{}, func(s *story) {
		s.moment(0, witness.KindAsks, "r1#1")
		s.moment(1, witness.KindAsks, "r1#2")
		for i := range 5 {
			s.visit(10+i, 3000+100*i, 3050+100*i, fmt.Sprintf("r2#%d", i+1))
		}
		s.moment(5, witness.KindObtains, "r1#1")
		s.moment(100, witness.KindLeaves, "r1#1")
		s.moment(100, witness.KindEnds, "r1#1")
		s.moment(101, witness.KindEnds, "r1#2")
		s.visit(20, 3500, 3510, "r2#6")
	})
	if a.Found[witness.Overtaken] > 0 || a.Found[witness.Idle] > 0 {
		t.Errorf("found is %v: %+v", a.Found, a.Take())
	}
}

// What became of a sale is perhaps never told: its replica's events were too many, or its process is another one by now. It is not inside
// for ever.
func TestASaleWhoseEndIsNeverTold(t *testing.T) {
	for name, ends := range map[string]func(*witness.Account){
		"a gap": func(a *witness.Account) { a.MarkUnseen("r1") },
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
		if len(a.Standing(at(90), 0)) != 1 || len(a.Going) != 2 {
			t.Fatalf("%s: before, there are %d sales, and what stands is %v", name, len(a.Going), a.Standing(at(90), 0))
		}
		ends(a)
		a.Record(witness.Event{Kind: witness.KindAsks, Replica: "r2", Sale: "r2#2", Sent: at(1000), Replied: at(1000)})
		a.Record(witness.Event{Kind: witness.KindObtains, Replica: "r2", Sale: "r2#2", Sent: at(1000), Replied: at(1000)})
		if standing := a.Standing(at(2000), 0); len(standing) > 0 || len(a.Going) != 1 {
			t.Errorf("%s: %d sales go on, and what stands is %v", name, len(a.Going), standing)
		}
	}
}

// An account with limits remembers what is going on, and little of what is over, however much there was. It counts everything.
func TestAnAccountIsBounded(t *testing.T) {
	const sales, few = 5000, 5
	a := watched(witness.Limits{Events: 100, Alike: few}, func(s *story) {
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
			s.befalls(10*i+9, witness.KindGoes, "r1")
		}
	})
	for what, n := range map[string]int{
		"events": len(a.Events), "sales": len(a.Sales), "holdings": len(a.Holdings), "insides": len(a.Insides), "findings": len(a.Findings),
		"stops": len(a.Stops),
	} {
		if n == 0 || n > 1000 {
			t.Errorf("it keeps %d %s", n, what)
		}
	}
	if len(a.Going) != 1 || !a.Sale("r9#1").IsInside() || a.Sale("r1#1") == nil || a.Sale("r1#3") != nil {
		t.Errorf("%d sales go on; want the one that never ended, and of those that ended long ago only the story's", len(a.Going))
	}
	found := a.Take()
	told := slices.DeleteFunc(slices.Clone(found), func(f witness.Finding) bool { return f.Kind != witness.LostUpdate })
	if len(told) != few || a.Found[witness.LostUpdate] != sales-1 || len(a.Take()) > 0 {
		t.Errorf("%d lost updates are told, and %d counted; want %d and %d", len(told), a.Found[witness.LostUpdate], few, sales-1)
	}
}
