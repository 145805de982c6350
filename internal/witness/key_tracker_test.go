package witness

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// trackerAfter returns a key's tracker after some events.
func trackerAfter(events []Event) *keyTracker {
	a := NewAccount(Limits{})
	for _, event := range InOrder(events) {
		a.Record(event)
	}
	a.applyOverdue(func(time.Time) bool { return true })
	return a.trackerAt(keyLocation{node: 0})
}

// referenceTrackerAfter returns the tracker that knows all events beforehand: of the remaining ones, it applies the first that fits.
func referenceTrackerAfter(events []Event) *keyTracker {
	key := NewAccount(Limits{}).trackerAt(keyLocation{node: 0})
	left := slices.DeleteFunc(InOrder(events), func(e Event) bool { return !e.affectsLock() })
	for len(left) > 0 {
		next := 0
		for i, event := range left {
			if !event.Sent.After(left[0].Replied) && key.fits(&event) {
				next = i
				break
			}
		}
		key.apply(left[next])
		left = slices.Delete(slices.Clone(left), next, next+1)
	}
	return key
}

// randomEvents returns n random events of some sales; some take long.
func randomEvents(random *rand.Rand, n int) (events []Event) {
	verbs := []Verb{Takes, Takes, Takes, Renews, Removes, Looks, Writes}
	outcomes := []Outcome{Done, Done, Again, ByOther, ByNobody, NotOwner, Refused, Unknown, Passed}
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	for i := range n {
		replica := fmt.Sprintf("r%d", 1+random.IntN(3))
		sale := fmt.Sprintf("%s#%d", replica, 1+random.IntN(5))
		sent := i + random.IntN(10)
		replied := sent + random.IntN(5)
		if random.IntN(20) == 0 {
			replied = sent + random.IntN(n) // delayed in the network
		}
		if random.IntN(50) == 0 {
			replied = sent - 1 // a clock was set back
		}
		event := Event{Kind: KindCommand, Replica: replica, Sale: sale, Sent: at(sent), Replied: at(replied)}
		switch random.IntN(30) {
		case 0:
			event.Kind, event.Token = KindObtains, int64(random.IntN(2))
		case 1:
			event.Kind = KindCommandReleased
		case 2:
			event.Kind = KindEmptied
		default:
			event.Command = &Command{
				Verb: verbs[random.IntN(len(verbs))], Outcome: outcomes[random.IntN(len(outcomes))], Holder: sale,
				TTL: Millis(time.Duration(random.IntN(3)*20) * time.Millisecond), Forced: random.IntN(4) == 0,
			}
		}
		events = append(events, event)
	}
	return events
}

// The holdings do not depend on the order in which events are recorded: a tracker that gets one event after the other waits for those that
// explain it.
func TestTrackerMatchesReference(t *testing.T) {
	for seed := range uint64(500) {
		events := randomEvents(rand.New(rand.NewPCG(seed, 0)), 100) //nolint:gosec // a test that can be repeated
		want, got := referenceTrackerAfter(events).account, trackerAfter(events).account
		got.Findings = slices.DeleteFunc(got.Findings, func(f Finding) bool {
			return !slices.Contains([]FindingKind{RemovedLock, OverwroteLock, ExtendedLock, RedisLostLock}, f.Kind)
		})
		if !reflect.DeepEqual(got.Holdings, want.Holdings) || !slices.Equal(got.Findings, want.Findings) {
			t.Fatalf("seed %d: got findings\n%+v\nwant\n%+v", seed, got.Findings, want.Findings)
		}
	}
}

// A Collector returns its events in order, whatever the order of arrival, and does not change those that it has returned.
func TestCollectorReturnsEventsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test that can be repeated
	events, c := randomEvents(random, 300), NewCollector()
	for i, event := range events {
		event.ID = uint64(i) //nolint:gosec // not negative
		events[i] = event
		before := c.Events()
		read, _ := c.snapshot()
		c.Record(event)
		if !reflect.DeepEqual(read, before) {
			t.Fatalf("event %d changed a slice that was returned before", i)
		}
		if want := InOrder(events[:i+1]); !reflect.DeepEqual(c.Events(), want) {
			t.Fatalf("after event %d: events are not in order", i)
		}
	}
}

func BenchmarkAccount(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		events := randomEvents(rand.New(rand.NewPCG(1, 2)), n) //nolint:gosec // a benchmark that can be repeated
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Examine(events)
			}
		})
	}
}

// A refused release that does not say who owns the lock came after its sale's holding had ended.
func TestRefusedReleaseFitsAfterHoldingEnds(t *testing.T) {
	at := time.UnixMilli(0)
	event := func(verb Verb, outcome Outcome, sale string) Event {
		return Event{Kind: KindCommand, Sale: sale, Sent: at, Replied: at, Command: &Command{Verb: verb, Outcome: outcome, Holder: sale}}
	}
	k := NewAccount(Limits{}).trackerAt(keyLocation{node: 0})
	for _, c := range []struct {
		before Event
		fits   bool
	}{
		{event(Looks, Done, "r1#1"), true}, {event(Takes, Done, "r1#1"), false},
		{event(Removes, Done, "r1#1"), true}, {event(Takes, Done, "r2#1"), true},
	} {
		k.apply(c.before)
		release := event(Removes, NotOwner, "r1#1")
		if fits := k.fits(&release); fits != c.fits {
			t.Errorf("after %s %s by %s: fits is %t, want %t", c.before.Command.Verb, c.before.Command.Outcome, c.before.Sale, fits, c.fits)
		}
	}
}
