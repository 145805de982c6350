// Package seat serves the scheduler's seat over HTTP: a reader plays the scheduler of the real code of a lock, chooses each step, and asks
// how many steps an anomaly is away. Begin with Seat and its Routes.
//
// The server keeps no state of a reader. A request carries its position: the lock, the scenario as flags of lockstep explore, and the
// schedule so far, as --replay takes it; so an address is a session. The answer runs the code along the schedule, which takes milliseconds.
//
// Hints, oracles and the table also explore. A process runs one exploration at a time, because each exploration observes all goroutines. In
// addition it runs one schedule at a time. Clients take turns for both (fairQueue). Explorations and runs are bounded in steps, time and
// memory, and end when their reader leaves, so the seat is open to everybody who reaches the server. Results of explorations are cached.
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

// The errors of requests, in addition to those of packages evolution and explore.
var (
	// ErrLeft is returned if the reader leaves or the seat closes during a request.
	ErrLeft = lock.WithCode("client_closed_request", "the reader has left, or the server is shutting down")
	// ErrBusy is returned if a queue is full, or a turn does not come within Limits.MaxWait.
	ErrBusy = lock.WithCode("busy", "too many requests to run or explore a lock already wait for their turn; try again")
	// ErrTooLarge is returned when a run along a schedule takes longer than Limits.RunTime.
	ErrTooLarge = lock.WithCode("too_large", "this takes too long")
)

// Limits bounds the work of one process for its readers.
type Limits struct {
	Hint             explore.Bounds // bounds of the search for a hint
	Map              explore.Bounds // bounds of a distance map
	Explore          explore.Bounds // bounds of an exploration that a reader requests
	Cell             explore.Bounds // bounds of the exploration of one scenario of the table
	MapBytes         int            // total size of the cached distance maps, in bytes
	ExplorationQueue int            // largest number of requests that wait for an exploration: one for each member of a class
	MaxWait          time.Duration  // longest wait of a hint, and of a run along a schedule, for its turn
	RunQueue         int            // largest number of requests that wait for a run: several at once from each page of a class
	RunTime          time.Duration  // longest run along a schedule
	Table            []byte         // initial table: Shipped as JSON; nil: none
}

// DefaultLimits returns the limits of a server. Explorations leave one core to the shop.
func DefaultLimits() Limits {
	const memory = 200 << 20 // bytes; garbage and the shop need about half as much in addition
	workers := max(1, runtime.GOMAXPROCS(0)-1)
	return Limits{
		Hint:     explore.Bounds{Schedules: 200_000, Memory: memory, Time: 20 * time.Second, Workers: workers},
		Map:      explore.Bounds{Schedules: 2_000_000, Memory: memory, Time: time.Minute, Workers: workers},
		Explore:  explore.Bounds{Memory: memory, Time: time.Minute, Workers: workers},
		Cell:     explore.Bounds{Memory: memory, Time: 2 * time.Minute, Workers: workers},
		MapBytes: 64 << 20, ExplorationQueue: 40, MaxWait: 10 * time.Second, RunQueue: 200, RunTime: 5 * time.Second, Table: shippedTable,
	}
}

// Seat answers the requests of readers. Clients take turns, see fairQueue.
type Seat struct {
	Close        context.CancelFunc         // ends all requests, so that a server that shuts down need not wait for them
	closing      context.Context            //nolint:containedctx // ended by Close, and then ends all requests
	limits       Limits                     // bounds of the work
	client       func(*http.Request) string // identifies the client of a request
	explorations *fairQueue                 // requests that explore
	runs         *fairQueue                 // requests that run a schedule

	rows       *lru.Cache[string, Row]                  // rows of the table by lock
	rowVersion atomic.Int64                             // number of rows found so far; part of cacheKey
	hints      *lru.Cache[string, session.Hint]         // hints by hintKey and schedule
	maps       *lru.Cache[string, *session.DistanceMap] // distance maps by lock and scenario
	tooLarge   *lru.Cache[string, error]                // errors of scenarios that are too large for a map
}

// New returns a seat. client identifies the client of a request, for taking turns; nil: all requests are of one client.
func New(limits Limits, client func(*http.Request) string) *Seat {
	if client == nil {
		client = func(*http.Request) string { return "" }
	}
	const cacheSize = 10_000 // entries of each cache; lru.New fails only for sizes below 1
	rows, _ := lru.New[string, Row](cacheSize)
	hints, _ := lru.New[string, session.Hint](cacheSize)
	maps, _ := lru.New[string, *session.DistanceMap](cacheSize)
	tooLarge, _ := lru.New[string, error](cacheSize)
	closing, cancel := context.WithCancel(context.Background())
	s := &Seat{
		Close: cancel, closing: closing, limits: limits, client: client, rows: rows, hints: hints, maps: maps, tooLarge: tooLarge,
		explorations: &fairQueue{capacity: limits.ExplorationQueue + 1}, runs: &fairQueue{capacity: limits.RunQueue + 1},
	}
	s.loadTable(limits.Table)
	return s
}

// Routes returns the routes of the seat. Closing the seat ends the contexts of all requests. HTTP caches do not store answers that depend
// on a position.
func (s *Seat) Routes() []route.Row {
	row := func(path string, who route.Access, handle route.Handler) route.Row {
		return route.On("GET", path, who, route.Replica, func(w http.ResponseWriter, r *http.Request) error {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(s.closing, cancel)()
			w.Header().Set("Cache-Control", "no-store")
			return handle(w, r.WithContext(ctx))
		})
	}
	return []route.Row{
		row("/seat", route.Reader, route.Cached(route.Value(s.handleIndex), s.cacheKey)),
		row("/seat/state", route.Participant, route.Value(s.handleState)),
		row("/seat/file", route.Participant, s.handleFile),
		row("/seat/beside", route.Participant, route.Value(s.handleCompare)),
		row("/seat/hint", route.Participant, route.Value(s.handleHint)),
		row("/seat/oracle", route.Participant, s.handleOracle),
		row("/seat/explore", route.Participant, s.handleExplore),
		row("/seat/table", route.Participant, route.Cached(s.handleTable, s.cacheKey)),
	}
}

// cacheKey returns the key of an answer that depends only on the language and the table; false until every row is known.
func (s *Seat) cacheKey(r *http.Request) (string, bool) {
	name, _ := route.ByQuery("lang")(r)
	return name + strconv.FormatInt(s.rowVersion.Load(), 10), s.rows.Len() == len(evolution.Table()) && !r.URL.Query().Has("anew")
}

// withMaxWait returns a context for waiting for a turn, which ends with ErrBusy after Limits.MaxWait.
func (s *Seat) withMaxWait(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.limits.MaxWait, fmt.Errorf("%w; there was no turn within %v", ErrBusy, s.limits.MaxWait))
}

// run calls do, which runs a schedule, in a turn of the client. The context of do ends when the reader leaves or after Limits.RunTime.
func (s *Seat) run(ctx context.Context, client string, do func(context.Context) error) error {
	waitCtx, cancel := s.withMaxWait(ctx)
	defer cancel()
	return s.runs.run(waitCtx, client, notCached, noUpdate, func() error {
		runCtx, cancel := context.WithTimeout(ctx, s.limits.RunTime)
		defer cancel()
		err := do(runCtx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", ErrLeft, ctx.Err())
		case err != nil && runCtx.Err() != nil:
			return fmt.Errorf("%w: more than %v; take fewer steps, or a smaller scenario", ErrTooLarge, s.limits.RunTime)
		default:
			return err
		}
	})
}
