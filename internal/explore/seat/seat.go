// Package seat is the scheduler's seat: a reader decides what happens next to the real code of a lock, and asks how far a breach is away.
// A Server serves it over HTTP.
//
// Nothing is kept of a reader. A question carries the Place: the lock, the scenario, and the schedule so far; so an address is a session.
// To answer, the code is run anew along the schedule, which takes milliseconds.
//
// A hint, an oracle and the table explore, too. Explorations take turns: there is one at a time in a process, since each looks at all
// goroutines of it. So do runs along a schedule, beside them. Both are bounded in steps, time and memory, and end with their context;
// and clients take turns, too. So the seat is open to whoever reaches the server. What explorations found is kept within
// bounds: the maps that oracles are read from, which scenarios are too large for one, and the shortest ways.
package seat

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

// The errors of questions, beside those of evolution and explore.
var (
	ErrLeft     = lock.WithCode("client_closed_request", "the reader has left, or the server ends")
	ErrBusy     = lock.WithCode("busy", "whoever runs or explores a lock waits for a turn, and too many wait already; ask again")
	ErrTooLarge = lock.WithCode("too_large", "this takes too long")
)

// Limits bound what one process explores for its readers.
type Limits struct {
	Hint    explore.Bounds // of a search for the next step
	Map     explore.Bounds // of a map
	Explore explore.Bounds // of an exploration of every schedule
	Cell    explore.Bounds // of one scenario of the table
	Kept    int            // bytes of maps that are kept
	Line    int            // how many may wait for their turn to explore: a class
	Longer  time.Duration  // how long a hint waits for it, and a run along a schedule for its own
	Runs    int            // how many may wait for their turn to run a schedule: a class, and what its pages ask for at once
	Run     time.Duration  // of a run along a schedule
	Table   []byte         // that is known from the start: Shipped, as JSON
}

// Usual returns the limits of a server: explorations leave the shop a core.
func Usual() Limits {
	const memory = 200 << 20 // and half as much again for garbage and the shop
	workers := max(1, runtime.GOMAXPROCS(0)-1)
	return Limits{
		Hint:    explore.Bounds{Schedules: 200_000, Memory: memory, Time: 20 * time.Second, Workers: workers},
		Map:     explore.Bounds{Schedules: 2_000_000, Memory: memory, Time: time.Minute, Workers: workers},
		Explore: explore.Bounds{Memory: memory, Time: time.Minute, Workers: workers},
		Cell:    explore.Bounds{Memory: memory, Time: 2 * time.Minute, Workers: workers},
		Kept:    64 << 20, Line: 40, Longer: 10 * time.Second, Runs: 200, Run: 5 * time.Second, Table: shippedTable,
	}
}

// Seat answers what readers ask. Clients, which have names, take turns.
type Seat struct {
	limits Limits
	turns  *turns // of those that explore
	runs   *turns // of those that run a schedule
	maps   maps
	ways   ways
	rows   sync.Map // of Row, by the name of the lock
}

// New makes a seat.
func New(limits Limits) *Seat {
	s := &Seat{limits: limits, turns: newTurns(limits.Line), runs: newTurns(limits.Runs), maps: maps{most: limits.Kept, now: time.Now}}
	s.load(limits.Table)
	return s
}

// run does something along a schedule, in a turn of its own. Its context ends when the reader leaves, and when it takes too long.
func (s *Seat) run(ctx context.Context, client string, do func(context.Context) error) error {
	return s.runs.alone(ctx, client, s.limits.Longer, func() error {
		bounded, cancel := context.WithTimeout(ctx, s.limits.Run)
		defer cancel()
		err := do(bounded)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", ErrLeft, ctx.Err())
		case err != nil && bounded.Err() != nil:
			return fmt.Errorf("%w: more than %v; take fewer steps, or a smaller scenario", ErrTooLarge, s.limits.Run)
		default:
			return err
		}
	})
}

// Index is what there is to choose from.
type Index struct {
	Locks     []Lock    `json:"locks"`
	Faults    []Fault   `json:"faults"`
	Anomalies []Anomaly `json:"anomalies"`
}

// Lock is a strategy, as the table has it.
type Lock struct {
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Adds        string            `json:"adds"`
	Costs       string            `json:"costs"`
	StillBroken string            `json:"still_broken"`
	OnNodes     bool              `json:"on_nodes"`
	Anomaly     explore.Anomaly   `json:"anomaly"`  // to try first with it
	Promises    []explore.Anomaly `json:"promises"` // to prevent
	Level       *Level            `json:"level"`    // null: the table does not know it yet
}

// Fault is one, how people call it, and what happens.
type Fault struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Says  string `json:"says"`
}

// Anomaly is one, how people call it, and what to make a lock do for it.
type Anomaly struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Says  string `json:"says"`
	Task  string `json:"task"`
}

// Index tells what there is to choose from.
func (s *Seat) Index(in language.Language) Index {
	var index Index
	for _, lock := range evolution.Table() {
		index.Locks = append(index.Locks, Lock{
			lock.Name, lock.Title.In(in), lock.Adds.In(in), lock.Costs.In(in), lock.StillBroken.In(in), lock.OnNodes,
			firstOf(lock.Name), PromisesOf(lock), s.levelOf(lock.Name),
		})
	}
	for _, fault := range explore.AllFaults() {
		index.Faults = append(index.Faults, Fault{fault.Name, explore.FaultTitle(fault.Name).In(in), fault.Says.In(in)})
	}
	for _, a := range explore.Anomalies() {
		index.Anomalies = append(index.Anomalies, Anomaly{string(a), a.Row().Title.In(in), a.Row().Says.In(in), a.Row().Task.In(in)})
	}
	return index
}

// firstOf gives the anomaly to try first with a lock.
func firstOf(lock string) explore.Anomaly {
	switch lock {
	case "v0", "v6", "v7", "atomic", "optimistic", "segmented", "late-commit":
		return anomaly.LostUpdate
	case "non-idempotent":
		return anomaly.DoubleSale
	case "v1":
		return anomaly.Stuck
	case "v4", "delex":
		return anomaly.SelfDeadlock
	case "v2", "v3":
		return anomaly.ForeignRelease
	case "setnx-expire":
		return anomaly.LeftBehind
	default:
		return anomaly.TwoHolders
	}
}

// PromisesOf lists what a lock promises to prevent.
func PromisesOf(s strategy.Strategy) []explore.Anomaly {
	return slices.DeleteFunc(explore.Anomalies(), func(a explore.Anomaly) bool { return !a.IsPromisedBy(s) || a.ByName() })
}
