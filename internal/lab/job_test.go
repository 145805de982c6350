package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/cluster/job"
	"lockstep/internal/witness"
)

// at is a moment of a job's ticks, the first of which is at zero.
func at(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }

// The record of a job is reported run by run. It omits the ticks before every replica was up, and reports a tick that no replica ran as
// missed.
func TestJobRecordIsReportedRunByRun(t *testing.T) {
	r := &record{Record: job.Record{Every: job.TickLength(time.Second)}, first: at(0)}
	events := r.events([]job.Run{
		{Tick: at(-1000), Replica: "r1", Began: at(-1000), End: at(-999)},
		{Tick: at(0), Replica: "r1", Began: at(1), End: at(500)},
		{Tick: at(2000), Replica: "r1", Began: at(2001)},
	}, at(2000))
	var lines []string
	for _, e := range events {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %d %s", e.Kind, e.Tick, e.Sale)))
	}
	want := []string{"tick 1", "runs 1 r1#1", "ran 1 r1#1", "tick 2", "missed 2", "tick 3", "runs 3 r1#2"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q; want %q", lines, want)
	}
}

// A replica that tried the lock of a cached value and did not compute the value counts as refused. In other jobs no replica does.
func TestReplicaThatDidNotComputeWasRefused(t *testing.T) {
	events := []witness.Event{{Kind: witness.KindRunBegins, Replica: "r1", Sale: "r1#1"}}
	for _, test := range []struct {
		name    string
		isCache bool
		replica string
		want    bool
	}{
		{"cache, the replica that ran", true, "r1", false},
		{"cache, another replica", true, "r2", true},
		{"no cache", false, "r2", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &record{isCache: test.isCache}
			refused, ok := r.refusal(witness.Event{Kind: witness.KindLockTried, Replica: test.replica, Sent: at(1), Replied: at(1)}, events)
			want := witness.Event{
				Kind: witness.KindLockRefused, Replica: test.replica, Sale: test.replica + "#1", Cache: true, Sent: at(1), Replied: at(1),
			}
			if ok != test.want || ok && refused != want {
				t.Errorf("refused %t, %+v; want %t", ok, refused, test.want)
			}
		})
	}
}

// A fault that came too late, or found no run to disturb, does not count as a hit.
func TestLateFaultHitsNobody(t *testing.T) {
	event := func(ms int, kind witness.Kind, replica, name string, tick int) witness.Event {
		return witness.Event{Kind: kind, Replica: replica, Sale: name, Tick: tick, Sent: at(ms), Replied: at(ms)}
	}
	run := event(1, witness.KindRunBegins, "r1", "r1#1", 1)
	obtains := event(1, witness.KindObtains, "r1", "r1#1", 0)
	tick3 := event(4000, witness.KindTickBegins, "", "", 3)
	tick2, ends := event(2000, witness.KindTickBegins, "", "", 2), event(1, witness.KindEnds, "r1", "r1#1", 0)
	dies := func(ms int, replica string) witness.Event { return event(ms, witness.KindDies, replica, "", 0) }
	goesOn := func(ms int) witness.Event { return event(ms, witness.KindResumes, "r1", "", 0) }
	died := diedWithJobLock(800 * time.Millisecond)
	wentOn := followsWithin(time.Second, ofKind("r1#1", witness.KindObtains), ofKind("r1", witness.KindResumes))
	for name, test := range map[string]struct {
		hit    Condition
		events []witness.Event
		want   bool
	}{
		"it dies with the lock":       {died, []witness.Event{run, dies(700, "r1")}, true},
		"it dies too late":            {died, []witness.Event{run, dies(900, "r1")}, false},
		"another dies":                {died, []witness.Event{run, dies(700, "r2")}, false},
		"nobody has run the tick":     {died, []witness.Event{dies(700, "r1")}, false},
		"a run outlasts its tick":     {outlastsTick, []witness.Event{run, tick2}, true},
		"a run ends before":           {outlastsTick, []witness.Event{run, event(1900, witness.KindRunEnds, "r1", "r1#1", 1), tick2}, false},
		"a later run outlasts":        {outlastsTick, []witness.Event{tick2, event(2001, witness.KindRunBegins, "r1", "r1#1", 2), tick3}, true},
		"no tick comes after a run":   {outlastsTick, []witness.Event{tick2, tick3, event(4001, witness.KindRunBegins, "r1", "r1#1", 3)}, false},
		"a tick is run":               {some(runBegins(1)), []witness.Event{run}, true},
		"another is":                  {some(runBegins(2)), []witness.Event{run}, false},
		"it goes on in time":          {wentOn, []witness.Event{obtains, goesOn(900)}, true},
		"it goes on too late":         {wentOn, []witness.Event{obtains, goesOn(1100)}, false},
		"it goes on and has no lock":  {wentOn, []witness.Event{goesOn(900)}, false},
		"a sale of the replica":       {sold("r1"), []witness.Event{ends}, true},
		"a sale of another replica's": {sold("r2"), []witness.Event{ends}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.hit(test.events); got != test.want {
				t.Errorf("hit %v; want %v", got, test.want)
			}
		})
	}
}
