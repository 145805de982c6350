package live_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/internal/live"
	"lockstep/internal/service/history"
	"lockstep/internal/witness"
)

// fakeShop is a live.Shop that plays the events and the state that a test sets.
type fakeShop struct {
	mu          sync.Mutex
	state       live.RunState
	played      []witness.Event
	followCalls int // number of calls of Follow
	followers   int // number of calls of Follow that go on
	stateCalls  int
	err         error // error of RunState; nil: none
	changed     chan struct{}
}

func newFakeShop(lock string) *fakeShop {
	report := history.Report{RunID: "one", Lock: lock, Initial: 200, Remaining: 200}
	return &fakeShop{state: live.RunState{Report: report}, changed: make(chan struct{})}
}

func (s *fakeShop) play(events ...witness.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played = append(s.played, events...)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *fakeShop) Follow(ctx context.Context, onEvents func(...witness.Event)) {
	s.mu.Lock()
	s.followCalls++
	s.followers++
	s.mu.Unlock()
	for seen := 0; ctx.Err() == nil; {
		s.mu.Lock()
		events, news := s.played[seen:], s.changed
		seen = len(s.played)
		s.mu.Unlock()
		onEvents(events...)
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	s.followers--
	s.mu.Unlock()
}

func (s *fakeShop) RunState(context.Context) (live.RunState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateCalls++
	return s.state, s.err
}

func (s *fakeShop) set(change func(*live.RunState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}

// script is a list of events that a test writes. Times are in milliseconds.
type script struct {
	start  time.Time
	run    string
	ids    map[string]uint64
	events []witness.Event
}

func newScript(run string) *script {
	return &script{start: time.Now().Add(-time.Minute), run: run, ids: map[string]uint64{}}
}

func (s *script) at(ms int) time.Time { return s.start.Add(time.Duration(ms) * time.Millisecond) }

func (s *script) add(ms int, sale string, event witness.Event) {
	at := s.at(ms)
	event.Replica, event.Sale, event.Sent, event.Replied = witness.ReplicaOf(sale), sale, at, at
	if !strings.Contains(sale, "#") {
		event.Sale = ""
	}
	s.ids[event.Replica]++
	event.ID = s.ids[event.Replica]
	s.events = append(s.events, event)
}

func (s *script) moment(ms int, sale string, kind witness.Kind) {
	event := witness.Event{Kind: kind}
	if kind == witness.KindAsks {
		event.Run, event.Owner, event.Process = s.run, "distributedLock:"+sale, witness.ReplicaOf(sale)+"-process"
	}
	s.add(ms, sale, event)
}

func (s *script) command(ms int, sale string, command witness.Command) {
	if command.Outcome == "" {
		command.Outcome = witness.Done
	}
	if command.Holder == "" {
		command.Holder = sale
	}
	s.add(ms, sale, witness.Event{Kind: witness.KindCommand, Command: &command})
}

// sale adds a sale from its request to its end, with a forced release.
func (s *script) sale(name string, asks, obtains, leaves int, stock int64) {
	s.moment(asks, name, witness.KindAsks)
	s.command(obtains, name, witness.Command{Verb: witness.Takes, TTL: witness.Millis(3 * time.Second)})
	s.moment(obtains, name, witness.KindObtains)
	s.command(obtains, name, witness.Command{Verb: witness.Reads, Stock: stock})
	s.command(leaves, name, witness.Command{Verb: witness.Writes, Stock: stock - 1})
	s.moment(leaves, name, witness.KindLeaves)
	s.command(leaves, name, witness.Command{Verb: witness.Removes, Forced: true})
	s.moment(leaves, name, witness.KindReleased)
	s.moment(leaves, name, witness.KindEnds)
}

// foreignDelete returns the foreign release of v2: the expiry is three seconds, and the work takes five.
func foreignDelete() []witness.Event {
	s := newScript("one")
	s.sale("r1#1", 0, 0, 5000, 200)
	s.sale("r2#1", 700, 3001, 8001, 200)
	slices.SortStableFunc(s.events, func(a, b witness.Event) int { return a.Replied.Compare(b.Replied) })
	return s.events
}
