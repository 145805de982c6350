// Package seat is the scheduler's seat over HTTP: a reader decides what happens next to the real code of a lock, and asks how far a breach
// is away.
//
// Nothing is kept of a reader. A request carries its place: the lock, the scenario as flags of lockstep explore, and the schedule so far,
// as --replay takes it; so an address is a session. To answer, the code is run anew along the schedule, which takes milliseconds.
//
// A hint, an oracle and the table explore, too. There is one exploration at a time in a process, since each looks at all goroutines of it,
// and beside it one run along a schedule. Clients take turns for both, which are bounded in steps, time and memory, and end with their
// reader; so the seat is open to whoever reaches the server. What explorations found is kept in caches.
package seat

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"lockstep/internal/api/route"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/lock"
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

// Seat answers what readers ask. Clients take turns.
type Seat struct {
	Close  context.CancelFunc // ends what is being explored: a server that ends waits for no table
	open   context.Context    //nolint:containedctx // it ends when the seat closes
	limits Limits
	client func(*http.Request) string // whose a request is
	turns  *turns                     // of those that explore
	runs   *turns                     // of those that run a schedule

	rows     *lru.Cache[string, Row]                  // by lock
	found    atomic.Int64                             // how often one of them was
	hints    *lru.Cache[string, session.Hint]         // by anomaly and schedule
	maps     *lru.Cache[string, *session.DistanceMap] // by lock and scenario
	tooLarge *lru.Cache[string, error]                // of what has no map
}

// New makes a seat. Client names whose a request is: clients take turns. If it is nil, all are one.
func New(limits Limits, client func(*http.Request) string) *Seat {
	if client == nil {
		client = func(*http.Request) string { return "" }
	}
	const most = 10_000 // an LRU cache fails only if there is no room in it at all
	rows, _ := lru.New[string, Row](most)
	hints, _ := lru.New[string, session.Hint](most)
	maps, _ := lru.New[string, *session.DistanceMap](most)
	tooLarge, _ := lru.New[string, error](most)
	open, cancel := context.WithCancel(context.Background())
	s := &Seat{
		Close: cancel, open: open, limits: limits, client: client, rows: rows, hints: hints, maps: maps, tooLarge: tooLarge,
		turns: &turns{most: limits.Line + 1}, runs: &turns{most: limits.Runs + 1},
	}
	s.load(limits.Table)
	return s
}

// Routes returns the routes of the seat. The context of a request ends when the seat closes, too. What depends on a place is kept
// nowhere.
func (s *Seat) Routes() []route.Row {
	row := func(path string, who route.Who, handle route.Handler) route.Row {
		return route.On("GET", path, who, route.Replica, func(w http.ResponseWriter, r *http.Request) error {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(s.open, cancel)()
			w.Header().Set("Cache-Control", "no-store")
			return handle(w, r.WithContext(ctx))
		})
	}
	return []route.Row{
		row("/seat", route.Reader, route.Kept(route.Value(s.index), s.asFound)),
		row("/seat/state", route.Participant, route.Value(s.state)),
		row("/seat/file", route.Participant, s.file),
		row("/seat/beside", route.Participant, route.Value(s.beside)),
		row("/seat/hint", route.Participant, route.Value(s.hint)),
		row("/seat/oracle", route.Participant, s.oracle),
		row("/seat/explore", route.Participant, s.explore),
		row("/seat/table", route.Participant, route.Kept(s.table, s.asFound)),
	}
}

// asFound is the key of what depends on the language and on the table, as soon as all of that is known.
func (s *Seat) asFound(r *http.Request) (string, bool) {
	name, _ := route.ByQuery("lang")(r)
	return name + strconv.FormatInt(s.found.Load(), 10), s.rows.Len() == len(evolution.Table()) && !r.URL.Query().Has("anew")
}

// soon returns a context in which to wait for a turn that has to come within a time.
func (s *Seat) soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.limits.Longer, fmt.Errorf("%w: no turn came in %v", ErrBusy, s.limits.Longer))
}

// run does something along a schedule, in a turn of its own. Its context ends when the reader leaves, and when it takes too long.
func (s *Seat) run(ctx context.Context, client string, do func(context.Context) error) error {
	soon, cancel := s.soon(ctx)
	defer cancel()
	return s.runs.take(soon, client, never, nothing, func() error {
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
