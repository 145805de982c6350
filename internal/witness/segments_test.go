package witness

import (
	"testing"
	"time"
)

// Sales in different segments are independent: they neither overlap, nor lose updates, nor end each other's locks.
func TestSegmentsAreIndependent(t *testing.T) {
	for other, want := range map[int]map[FindingKind]int{
		2: {},
		1: {Overlapped: 1, LostUpdate: 1, RemovedLock: 1, WroteLate: 2}, // each sale wrote after the other had ended its lock
	} {
		at := time.Unix(0, 0)
		var events []Event
		add := func(event Event) {
			at = at.Add(time.Millisecond)
			event.Sent, event.Replied = at, at
			events = append(events, event)
		}
		command := func(replica string, segment int, verb Verb, stock int64, forced bool) {
			add(Event{Kind: KindCommand, Replica: replica, Sale: replica + "#1", Segment: segment, Command: &Command{
				Verb: verb, Outcome: Done, Holder: replica, TTL: Millis(time.Minute), Stock: stock, Forced: forced,
			}})
		}
		begin := func(replica string, segment int, forced bool) {
			add(Event{Kind: KindAsks, Replica: replica, Sale: replica + "#1", Owner: replica, Segment: segment})
			command(replica, segment, Takes, 0, forced)
			add(Event{Kind: KindObtains, Replica: replica, Sale: replica + "#1", Segment: segment})
			command(replica, segment, Reads, 5, false)
		}
		end := func(replica string, segment int, forced bool) {
			command(replica, segment, Writes, 4, false)
			add(Event{Kind: KindLeaves, Replica: replica, Sale: replica + "#1", Segment: segment})
			command(replica, segment, Removes, 0, forced)
			add(Event{Kind: KindEnds, Replica: replica, Sale: replica + "#1"})
		}
		begin("r1", 1, false)
		begin("r2", other, other == 1)
		end("r1", 1, other == 1)
		end("r2", other, false)
		account := Examine(events)
		for _, kind := range []FindingKind{Overlapped, LostUpdate, RemovedLock, WroteLate, WaitsForItself} {
			if account.FindingCounts[kind] != want[kind] {
				t.Errorf("the other sale in segment %d: got %d × %s, want %d", other, account.FindingCounts[kind], kind, want[kind])
			}
		}
	}
}

// A sale that moves on to the next segment waits again there, behind those who wait, and not for itself.
func TestSaleWaitsAgainInNextSegment(t *testing.T) {
	at := time.Unix(0, 0)
	account := NewAccount(Limits{})
	add := func(kind Kind, sale string, segment int) {
		at = at.Add(time.Second)
		account.Record(Event{Kind: kind, Replica: "r1", Sale: sale, Owner: sale, Segment: segment, Sent: at, Replied: at})
	}
	add(KindAsks, "r1#1", 1)
	add(KindAsks, "r1#2", 2)
	add(KindAsks, "r1#3", 2)
	add(KindObtains, "r1#1", 1)
	add(KindLeaves, "r1#1", 1)
	add(KindAsks, "r1#1", 2)
	for _, sale := range []string{"r1#2", "r1#3"} {
		add(KindObtains, sale, 2)
		add(KindLeaves, sale, 2)
		add(KindEnds, sale, 0)
	}
	if s := account.Sale("r1#1"); !s.IsWaiting() || s.Segment != 2 {
		t.Errorf("got sale %+v, want it to wait in segment 2", s)
	}
	add(KindEnds, "r1#1", 0)
	for _, kind := range []FindingKind{WaitsForItself, Overtaken, Overlapped} {
		if account.FindingCounts[kind] > 0 {
			t.Errorf("got %d × %s, want none", account.FindingCounts[kind], kind)
		}
	}
}
