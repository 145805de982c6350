package witness

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// followed gives the key after some events.
func followed(events []Event) *keyTracker {
	a := NewAccount(Limits{})
	for _, event := range InOrder(events) {
		a.Record(event)
	}
	a.applyOverdue(func(time.Time) bool { return true })
	return a.trackerAt(keyLocation{node: 0})
}

// followedAtOnce is what a key does that knows all events before it begins: of those that are left, it takes the first that fits.
func followedAtOnce(events []Event) *keyTracker {
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

// crowd is events of so many sales that all do what they like, some of them for long.
func crowd(random *rand.Rand, n int) (events []Event) {
	verbs := []Verb{Takes, Takes, Takes, Renews, Removes, Looks, Writes}
	outcomes := []Outcome{Done, Done, Again, ByOther, ByNobody, NotOwner, Refused, Unknown, Passed}
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	for i := range n {
		replica := fmt.Sprintf("r%d", 1+random.IntN(3))
		sale := fmt.Sprintf("%s#%d", replica, 1+random.IntN(5))
		sent := i + random.IntN(10)
		replied := sent + random.IntN(5)
		if random.IntN(20) == 0 {
			replied = sent + random.IntN(n) // it is held on its way
		}
		if random.IntN(50) == 0 {
			replied = sent - 1 // a clock was set
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

// Who held the lock does not depend on when it is told: an account that hears of one event after the other waits for what explains it.
func TestTheKeyWaitsForWhatExplains(t *testing.T) {
	for seed := range uint64(500) {
		events := crowd(rand.New(rand.NewPCG(seed, 0)), 100) //nolint:gosec // a test that can be repeated
		want, got := followedAtOnce(events).account, followed(events).account
		got.Findings = slices.DeleteFunc(got.Findings, func(f Finding) bool {
			return !slices.Contains([]FindingKind{RemovedLock, OverwroteLock, ProlongedLock, RedisLostLock}, f.Kind)
		})
		if !reflect.DeepEqual(got.Holdings, want.Holdings) || !slices.Equal(got.Findings, want.Findings) {
			t.Fatalf("seed %d: %+v\nwant\n%+v", seed, got.Findings, want.Findings)
		}
	}
}

// A Collector has its events in order, whatever order they come in, and does not change those that somebody reads.
func TestACollectorIsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test that can be repeated
	events, c := crowd(random, 300), NewCollector()
	for i, event := range events {
		event.ID = uint64(i) //nolint:gosec // it is positive
		events[i] = event
		before := c.Events()
		read, _ := c.snapshot()
		c.Record(event)
		if !reflect.DeepEqual(read, before) {
			t.Fatalf("event %d changed what somebody reads", i)
		}
		if want := InOrder(events[:i+1]); !reflect.DeepEqual(c.Events(), want) {
			t.Fatalf("after event %d they are not in order", i)
		}
	}
}

func BenchmarkAccount(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		events := crowd(rand.New(rand.NewPCG(1, 2)), n) //nolint:gosec // a benchmark that can be repeated
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Examine(events)
			}
		})
	}
}

// A release that was refused, and does not say whose the lock is, came after the lock of its sale had ended.
func TestWhenARefusedReleaseFits(t *testing.T) {
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
			t.Errorf("after %s %s by %s: %t; want %t", c.before.Command.Verb, c.before.Command.Outcome, c.before.Sale, fits, c.fits)
		}
	}
}
