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

// keepingLock is a lock that keeps something between sales. It records its calls.
type keepingLock struct {
	lock.Locker
	name   string // name of its process
	events *[]string
	during func() // called during Close; nil: nothing
	fails  error
}

func (k *keepingLock) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	*k.events = append(*k.events, k.name+" locks")
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		*k.events = append(*k.events, k.name+" unlocks")
		return nil
	}), nil
}

func (k *keepingLock) Close(ctx context.Context) error {
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
	during func() // called during Beat; nil: nothing
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

func (l *fakeLedger) ReadState(context.Context) (State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, nil
}

func (l *fakeLedger) Run(ctx context.Context) (history.Run, error) {
	state, err := l.ReadState(ctx)
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

func (l *fakeLedger) RequestHeartbeats(context.Context) error { return nil }
func (l *fakeLedger) OnHeartbeatRequest(func()) (stop func()) { return func() {} }
func (l *fakeLedger) DeleteHeartbeat(context.Context) error   { return l.event("quit") }
func (l *fakeLedger) event(text string) error                 { *l.events = append(*l.events, text); return nil }

// set changes the state that the ledger returns from now on.
func (l *fakeLedger) set(change func(*State)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.state)
}

// lastReplica returns the replica of the last heartbeat.
func (l *fakeLedger) lastReplica() Replica {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beats[len(l.beats)-1]
}

// barrierLocker is a lock that stands for the barrier: it records its state in the fake ledger.
type barrierLocker struct {
	lock.Locker
	ledger *fakeLedger
}

func (d barrierLocker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	d.ledger.set(func(s *State) { s.Change = owner })
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		d.ledger.set(func(s *State) { s.Change = "" })
		return d.ledger.event("barrier opens")
	}), nil
}

// newShopOfKeepingLocks returns a shop whose run another replica has begun and whose locks are keepingLocks, its ledger, and the events of
// both.
func newShopOfKeepingLocks(t *testing.T) (*Shop, *fakeLedger, *[]string) {
	t.Helper()
	events := &[]string{}
	ledger := &fakeLedger{events: events, state: State{
		Run:    history.Run{ID: "first", Lock: "v11"},
		Others: map[string]Replica{"other": {LastBeat: time.Now()}},
	}}
	shop := &Shop{
		Stock: endlessStock{}, Ledger: ledger, Barrier: barrierLocker{ledger: ledger}, Clock: lock.SystemClock{},
		Log:   slog.New(slog.DiscardHandler),
		NewID: func() string { return "next" },
		Parts: strategy.Parts{Options: lock.Options{Process: "p"}},
		Strategies: map[string]strategy.Strategy{"v11": {New: func(parts strategy.Parts) lock.Locker {
			*events = append(*events, "make "+parts.Process)
			return &keepingLock{name: parts.Process, events: events}
		}}},
	}
	opened := ledger.state
	ledger.state.Others = nil
	shop.Ledger = &ledgerWithNewReplica{ledger, opened}
	if err := shop.Open(t.Context(), history.Settings{WaitTimeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	shop.Ledger = ledger
	return shop, ledger, events
}

// ledgerWithNewReplica is a ledger in which another replica has just started.
type ledgerWithNewReplica struct {
	*fakeLedger
	state State
}

func (a *ledgerWithNewReplica) ReadState(context.Context) (State, error) {
	state := a.state
	a.state.Others = map[string]Replica{"other": {LastBeat: time.Now().Add(time.Second)}}
	return state, nil
}

// endlessStock is a stock that always has one more piece.
type endlessStock struct{ Stock }

func (endlessStock) Read(context.Context, history.Order) (int64, error) { return 1, nil }
func (endlessStock) Write(_ context.Context, order history.Order) (history.Order, error) {
	return order, nil
}
