package service

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// keeper is a lock that keeps something between sales. It writes down what happens to it.
type keeper struct {
	lock.Locker
	name   string // of the process that it competes as
	events *[]string
	during func() // what happens while it is closed
	fails  error
}

func (k *keeper) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	*k.events = append(*k.events, k.name+" locks")
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		*k.events = append(*k.events, k.name+" unlocks")
		return nil
	}), nil
}

func (k *keeper) Close(ctx context.Context) error {
	if ctx.Err() != nil {
		*k.events = append(*k.events, "too late for "+k.name)
	}
	*k.events = append(*k.events, "close "+k.name)
	if k.during != nil {
		k.during()
	}
	return k.fails
}

// fakeLedger is a ledger of a run that other replicas may change.
type fakeLedger struct {
	Ledger

	mu     sync.Mutex
	state  State
	beats  []Replica
	during func() // what happens while it answers
	events *[]string
}

func (l *fakeLedger) Beat(_ context.Context, replica Replica) (State, error) {
	l.mu.Lock()
	l.beats = append(l.beats, replica)
	state, during := l.state, l.during
	l.mu.Unlock()
	if during != nil {
		during()
	}
	return state, nil
}

func (l *fakeLedger) Look(context.Context) (State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, nil
}

func (l *fakeLedger) Run(ctx context.Context) (history.Run, error) {
	state, err := l.Look(ctx)
	return state.Run, err
}

func (l *fakeLedger) Order(context.Context, string) (history.Order, error) {
	return history.Order{}, ErrNoOrder
}

func (l *fakeLedger) Tally(ctx context.Context) (history.Tally, error) {
	run, err := l.Run(ctx)
	return history.Tally{Run: run}, err
}

func (l *fakeLedger) Start(_ context.Context, _, next history.Run) error {
	l.set(func(s *State) { s.Run = next })
	return l.event("next run")
}

func (l *fakeLedger) Call(context.Context) error  { return nil }
func (l *fakeLedger) OnCall(func()) (stop func()) { return func() {} }
func (l *fakeLedger) Quit(context.Context) error  { return l.event("quit") }
func (l *fakeLedger) event(text string) error     { *l.events = append(*l.events, text); return nil }

// set changes what it answers from now on.
func (l *fakeLedger) set(change func(*State)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.state)
}

// lastReplica returns the replica that was passed last.
func (l *fakeLedger) lastReplica() Replica {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beats[len(l.beats)-1]
}

// barrier is one of which the room is told.
type barrier struct {
	lock.Locker
	ledger *fakeLedger
}

func (d barrier) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	d.ledger.set(func(s *State) { s.Change = owner })
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		d.ledger.set(func(s *State) { s.Change = "" })
		return d.ledger.event("barrier opens")
	}), nil
}

// shopOfKeepers is a shop of a run that another replica has begun, whose locks are keepers, and what happens to them.
func shopOfKeepers(t *testing.T) (*Shop, *fakeLedger, *[]string) {
	t.Helper()
	events := &[]string{}
	ledger := &fakeLedger{events: events, state: State{
		Run:    history.Run{ID: "first", Lock: "v11"},
		Others: map[string]Replica{"other": {LastBeat: time.Now()}},
	}}
	shop := &Shop{
		Stock: plenty{}, Ledger: ledger, Barrier: barrier{ledger: ledger}, Clock: lock.SystemClock{}, Log: slog.New(slog.DiscardHandler),
		NewID: func() string { return "next" },
		Parts: strategy.Parts{Options: lock.Options{Process: "p"}},
		Strategies: map[string]strategy.Strategy{"v11": {New: func(parts strategy.Parts) lock.Locker {
			*events = append(*events, "make "+parts.Process)
			return &keeper{name: parts.Process, events: events}
		}}},
	}
	opened := ledger.state
	ledger.state.Others = nil
	shop.Ledger = &arriving{ledger, opened}
	if err := shop.Open(t.Context(), history.Settings{WaitTimeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	shop.Ledger = ledger
	return shop, ledger, events
}

// arriving is a room in which another replica has just come to life.
type arriving struct {
	*fakeLedger
	state State
}

func (a *arriving) Look(context.Context) (State, error) {
	state := a.state
	a.state.Others = map[string]Replica{"other": {LastBeat: time.Now().Add(time.Second)}}
	return state, nil
}

// plenty is a stock of which one piece more is always left.
type plenty struct{ Stock }

func (plenty) Read(context.Context, history.Order) (int64, error) { return 1, nil }
func (plenty) Write(_ context.Context, order history.Order) (history.Order, error) {
	return order, nil
}
