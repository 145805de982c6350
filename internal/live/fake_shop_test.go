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

// stage is a shop that plays what it is told.
type stage struct {
	mu       sync.Mutex
	look     live.RunState
	played   []witness.Event
	follow   int // how often it was followed
	followed int // how many follow it
	looks    int
	gone     error // Redis is
	news     chan struct{}
}

func newStage(lock string) *stage {
	report := history.Report{RunID: "one", Lock: lock, Initial: 200, Remaining: 200}
	return &stage{look: live.RunState{Report: report}, news: make(chan struct{})}
}

func (s *stage) play(events ...witness.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played = append(s.played, events...)
	close(s.news)
	s.news = make(chan struct{})
}

func (s *stage) Follow(ctx context.Context, see func(...witness.Event)) {
	s.mu.Lock()
	s.follow++
	s.followed++
	s.mu.Unlock()
	for seen := 0; ctx.Err() == nil; {
		s.mu.Lock()
		events, news := s.played[seen:], s.news
		seen = len(s.played)
		s.mu.Unlock()
		see(events...)
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	s.followed--
	s.mu.Unlock()
}

func (s *stage) RunState(context.Context) (live.RunState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	return s.look, s.gone
}

func (s *stage) set(change func(*live.RunState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.look)
}

// script writes events, at milliseconds.
type script struct {
	began time.Time
	run   string
	ids   map[string]uint64
	all   []witness.Event
}

func newScript(run string) *script {
	return &script{began: time.Now().Add(-time.Minute), run: run, ids: map[string]uint64{}}
}

func (s *script) at(ms int) time.Time { return s.began.Add(time.Duration(ms) * time.Millisecond) }

func (s *script) add(ms int, sale string, event witness.Event) {
	at := s.at(ms)
	event.Replica, event.Sale, event.Sent, event.Replied = witness.ReplicaOf(sale), sale, at, at
	if !strings.Contains(sale, "#") {
		event.Sale = ""
	}
	s.ids[event.Replica]++
	event.ID = s.ids[event.Replica]
	s.all = append(s.all, event)
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

// sale is one from its asking to its end; take and give say what it does to the lock.
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

// foreignDelete is v2's: the expiry is three seconds, and the work takes five.
func foreignDelete() []witness.Event {
	s := newScript("one")
	s.sale("r1#1", 0, 0, 5000, 200)
	s.sale("r2#1", 700, 3001, 8001, 200)
	slices.SortStableFunc(s.all, func(a, b witness.Event) int { return a.Replied.Compare(b.Replied) })
	return s.all
}
