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

// room is a ledger of a run that other replicas may change.
type room struct {
	Ledger

	mu     sync.Mutex
	state  State
	told   []Replica
	during func() // what happens while it answers
	events *[]string
}

func (r *room) Beat(_ context.Context, tells Replica) (State, error) {
	r.mu.Lock()
	r.told = append(r.told, tells)
	state, during := r.state, r.during
	r.mu.Unlock()
	if during != nil {
		during()
	}
	return state, nil
}

func (r *room) Look(context.Context) (State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, nil
}

func (r *room) Run(ctx context.Context) (history.Run, error) {
	state, err := r.Look(ctx)
	return state.Run, err
}

func (r *room) Order(context.Context, string) (history.Order, error) {
	return history.Order{}, ErrNoOrder
}

func (r *room) Tally(ctx context.Context) (history.Tally, error) {
	run, err := r.Run(ctx)
	return history.Tally{Run: run}, err
}

func (r *room) Start(_ context.Context, _, next history.Run) error {
	r.set(func(s *State) { s.Run = next })
	return r.event("next run")
}

func (r *room) Call(context.Context) error  { return nil }
func (r *room) OnCall(func()) (stop func()) { return func() {} }
func (r *room) Quit(context.Context) error  { return r.event("quit") }
func (r *room) event(text string) error     { *r.events = append(*r.events, text); return nil }

// set changes what it answers from now on.
func (r *room) set(change func(*State)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
}

// last returns what was told last.
func (r *room) last() Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[len(r.told)-1]
}

// barrier is one of which the room is told.
type barrier struct {
	lock.Locker
	room *room
}

func (d barrier) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	d.room.set(func(s *State) { s.Change = owner })
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		d.room.set(func(s *State) { s.Change = "" })
		return d.room.event("barrier opens")
	}), nil
}

// shopOfKeepers is a shop of a run that another replica has begun, whose locks are keepers, and what happens to them.
func shopOfKeepers(t *testing.T) (*Shop, *room, *[]string) {
	t.Helper()
	events := &[]string{}
	room := &room{events: events, state: State{
		Run:    history.Run{ID: "first", Lock: "v11"},
		Others: map[string]Replica{"other": {Told: time.Now()}},
	}}
	shop := &Shop{
		Stock: plenty{}, Ledger: room, Barrier: barrier{room: room}, Clock: lock.SystemClock{}, Log: slog.New(slog.DiscardHandler),
		NewID: func() string { return "next" },
		Parts: strategy.Parts{Options: lock.Options{Process: "p"}},
		Strategies: map[string]strategy.Strategy{"v11": {New: func(parts strategy.Parts) lock.Locker {
			*events = append(*events, "make "+parts.Process)
			return &keeper{name: parts.Process, events: events}
		}}},
	}
	opened := room.state
	room.state.Others = nil
	shop.Ledger = &arriving{room, opened}
	if err := shop.Open(t.Context(), history.Settings{WaitTimeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	shop.Ledger = room
	return shop, room, events
}

// arriving is a room in which another replica has just come to life.
type arriving struct {
	*room
	state State
}

func (a *arriving) Look(context.Context) (State, error) {
	state := a.state
	a.state.Others = map[string]Replica{"other": {Told: time.Now().Add(time.Second)}}
	return state, nil
}

// plenty is a stock of which one piece more is always left.
type plenty struct{ Stock }

func (plenty) Read(context.Context, history.Order) (int64, error) { return 1, nil }
func (plenty) Write(_ context.Context, order history.Order) (history.Order, error) {
	return order, nil
}
