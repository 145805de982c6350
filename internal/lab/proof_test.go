package lab

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

// moments are events of sales, a tenth of a second apart.
func moments(list ...witness.Event) (events []witness.Event) {
	for i, e := range list {
		e.Replica = witness.ReplicaOf(e.Sale)
		e.Sent, e.Replied = at(100*i), at(100*i)
		events = append(events, e)
	}
	return events
}

// named returns the lab with a name.
func named(t *testing.T, name string) Lab {
	t.Helper()
	l, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func obtainsAt(sale string) witness.Event {
	return witness.Event{Kind: witness.KindObtains, Sale: sale}
}
func endsAt(sale, why string) witness.Event {
	return witness.Event{Kind: witness.KindEnds, Sale: sale, Error: why}
}

// A lock that no sale obtained gets no verdict, although nothing went wrong.
func TestLockThatNobodyGotDoesNotHold(t *testing.T) {
	asks := func(sale string) witness.Event { return witness.Event{Kind: witness.KindAsks, Sale: sale} }
	died := []witness.Event{asks("r1#1"), obtainsAt("r1#1"), {Kind: witness.KindDies, Sale: "r1#"}, asks("r2#1")}
	for name, test := range map[string]struct {
		after []witness.Event
		want  verdict.Verdict
		says  string
	}{
		"sold":         {[]witness.Event{obtainsAt("r2#1"), endsAt("r2#1", "")}, verdict.Holds, ""},
		"refused":      {[]witness.Event{endsAt("r2#1", "no such script")}, verdict.Unknown, "r2#1 failed: no such script"},
		"never seen":   {nil, verdict.Unknown, "nothing shows that the lock holds"},
		"another sold": {[]witness.Event{obtainsAt("r2#2"), endsAt("r2#2", "")}, verdict.Unknown, "nothing shows that the lock holds"},
	} {
		t.Run(name, func(t *testing.T) {
			a := witness.Examine(moments(append(died[:len(died):len(died)], test.after...)...))
			r := named(t, "holder-dies").judge("v2", a, nil, language.English)
			if r.Observed != test.want || !strings.Contains(r.Reason, test.says) {
				t.Errorf("got %s, %q; want %s, %q", r.Observed, r.Reason, test.want, test.says)
			}
		})
	}
}

// A record with a gap gives no verdict, because the missing events may show the anomaly.
func TestIncompleteRecordGivesNoVerdict(t *testing.T) {
	events := moments(obtainsAt("r1#1"), witness.Event{Kind: witness.KindDies, Sale: "r1#"}, obtainsAt("r2#1"), endsAt("r2#1", ""))
	for name, test := range map[string]struct {
		gap  []witness.Event
		want verdict.Verdict
	}{
		"complete record": {want: verdict.Holds},
		"gap":             {gap: []witness.Event{{Kind: witness.KindGap, Replica: "r2"}}, want: verdict.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			a := witness.Examine(append(test.gap, events...))
			if r := named(t, "holder-dies").judge("v2", a, nil, language.English); r.Observed != test.want {
				t.Errorf("got %s, %q; want %s", r.Observed, r.Reason, test.want)
			}
		})
	}
}

// A release that arrives when no sale has the lock any more cannot remove a lock.
func TestReleaseOfAFreeLockIsHarmless(t *testing.T) {
	leaves := witness.Event{Kind: witness.KindLeaves, Sale: "r2#1"}
	held, freed := witness.Event{Kind: witness.KindCommandHeld, Sale: "r1#1"}, witness.Event{Kind: witness.KindCommandReleased, Sale: "r1#1"}
	hit := named(t, "check-then-delete").Hit
	for name, test := range map[string]struct {
		events []witness.Event
		want   bool
	}{
		"in time":  {[]witness.Event{obtainsAt("r1#1"), held, obtainsAt("r2#1"), freed, leaves}, true},
		"too late": {[]witness.Event{obtainsAt("r1#1"), held, obtainsAt("r2#1"), leaves, freed}, false},
		"never":    {[]witness.Event{obtainsAt("r1#1"), held, obtainsAt("r2#1"), leaves}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hit(moments(test.events...)); got != test.want {
				t.Errorf("hit %v; want %v", got, test.want)
			}
		})
	}
}

// Only the last sale of a replica after an event counts.
func TestLastSaleAfterTheFaultCounts(t *testing.T) {
	back := witness.Event{Kind: witness.KindRedisReachable}
	proof := soldAfter(witness.KindRedisReachable, "r2")
	for name, test := range map[string]struct {
		events []witness.Event
		want   bool
	}{
		"sold in the end": {[]witness.Event{back, endsAt("r2#1", "gone"), endsAt("r2#2", "")}, true},
		"sold before":     {[]witness.Event{endsAt("r2#1", ""), back, endsAt("r2#2", "gone")}, false},
		"nobody asked":    {[]witness.Event{endsAt("r2#1", ""), back}, false},
		"sold by another": {[]witness.Event{back, endsAt("r1#1", "")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := proof(moments(test.events...)); got != test.want {
				t.Errorf("got %v; want %v", got, test.want)
			}
		})
	}
}

// A waiter that gives up before the first holder's lock could have expired does not prove that the lock was renewed.
func TestEarlyWaiterProvesNoRenewal(t *testing.T) {
	asks, first := witness.Event{Kind: witness.KindAsks, Sale: "r2#1"}, obtainsAt("r1#1")
	proof := blockedFor(150*time.Millisecond, "r2#1")
	for name, test := range map[string]struct {
		events []witness.Event
		want   bool
	}{
		"it gets in later":     {[]witness.Event{first, asks, obtainsAt("r2#1")}, true},
		"it gives up later":    {[]witness.Event{first, asks, endsAt("r2#1", "gone")}, true},
		"it gives up too soon": {[]witness.Event{asks, first, endsAt("r2#1", "gone")}, false},
		"nobody was before it": {[]witness.Event{asks, endsAt("r2#1", "gone")}, false},
		"it never asked":       {[]witness.Event{first, first, first, endsAt("r2#1", "gone")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := proof(moments(test.events...)); got != test.want {
				t.Errorf("got %v; want %v", got, test.want)
			}
		})
	}
}

// A job that ran once in a tick says nothing about its lock if only one replica tried to run it.
func TestJobOfOneReplicaGivesNoVerdict(t *testing.T) {
	ran := witness.Event{Kind: witness.KindRunBegins, Sale: "r1#1", Tick: 1}
	for _, test := range []struct {
		name  string
		tries []string
		want  verdict.Verdict
	}{
		{"both replicas tried", []string{"r1#", "r2#"}, verdict.Holds},
		{"one replica tried", []string{"r1#"}, verdict.Unknown},
		{"no replica tried", nil, verdict.Unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := []witness.Event{ran}
			for _, sale := range test.tries {
				events = append(events, witness.Event{Kind: witness.KindLockTried, Sale: sale})
			}
			r := named(t, "scheduled-job").judge("v1", witness.Examine(moments(events...)), nil, language.English)
			if r.Observed != test.want {
				t.Errorf("got %s, %q; want %s", r.Observed, r.Reason, test.want)
			}
		})
	}
}

// A write that was sent before a pause arrives after it. News of the lost lock does not call the write back.
func TestWriteOfAPausedProcessArrivesAfterThePause(t *testing.T) {
	event := func(kind witness.Kind) witness.Event { return witness.Event{Kind: kind, Sale: "r1#"} }
	wrote := func(sale string) witness.Event {
		return witness.Event{Kind: witness.KindCommand, Sale: sale, Command: &witness.Command{Verb: witness.Writes, Outcome: witness.Done}}
	}
	stops, goes, freed := event(witness.KindStops), event(witness.KindResumes), event(witness.KindCommandReleased)
	hit := named(t, "paused-writer").Hit
	for name, test := range map[string]struct {
		events []witness.Event
		want   bool
	}{
		"after it":  {[]witness.Event{stops, wrote("r2#1"), goes, freed, wrote("r1#1")}, true},
		"during it": {[]witness.Event{stops, wrote("r2#1"), freed, goes, wrote("r1#1")}, false},
		"never":     {[]witness.Event{stops, wrote("r2#1"), goes}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hit(moments(test.events...)); got != test.want {
				t.Errorf("hit %v; want %v", got, test.want)
			}
		})
	}
}

// A Redis that loses stock and lock together says nothing about the lock, so the lab does not apply to it and names no lock as the cure.
func TestNoLockCuresAnEmptyRedis(t *testing.T) {
	l := named(t, "empty-restarted-node")
	if got := strings.Join(l.Locks(), " "); got != "redlock" {
		t.Errorf("it runs %q; want redlock alone", got)
	}
	for _, lock := range StepsFrom(1) {
		if err := l.Check(lock, language.English); !errors.Is(err, ErrNotFor) {
			t.Errorf("%s: %v; want %v", lock, err, ErrNotFor)
		}
	}
	for in, want := range map[language.Language]string{
		language.English: "No lock here cures it: a node must stay away", language.Chinese: "没有哪种锁能修复它：节点重启后",
	} {
		t.Run(string(in), func(t *testing.T) {
			if cure := l.HowCured(in); !strings.HasPrefix(cure, want) {
				t.Errorf("got %q; want %q first", cure, want)
			}
		})
	}
}
