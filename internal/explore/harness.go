package explore

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
	"lockstep/internal/trace"
)

const (
	runID     = "explored"
	maxOrders = 1000 // more than anybody writes here
	// handOffLimit is small, so that few sales are enough to see the lock go to another process.
	handOffLimit = 1
	usualMasters = 3 // of a lock on nodes
	// Segments is in how many the stock is, of a strategy that has them. All but the first are sold out, so that sales go on and meet there.
	Segments = 2
)

// Harness is what a worker keeps from one execution to the next. It begins one after the other, never two at once.
type Harness struct {
	strategy strategy.Strategy
	scenario engine.Scenario
	options  Options
	memory   *simredis.Simulator
	start    *simredis.State
	clients  [][]*simredis.Client // of each process, to each server
	stores   []*dao.Store
	masters  int // that the lock is on, beside the server with the stock
	hasher   *engine.Hasher
	pool     engine.Pool
	watch    engine.Watchdog
	played   int                             // runs, in a search
	polled   map[engine.Fingerprint]struct{} // what waiters were told that have been looked at
	ledgers  map[*simredis.State]ledger      // that were read
}

// Options say what to look for, and how closely.
type Options struct {
	engine.Cuts
	Starved  bool         // look for sales that are starved
	Stop     func() error // why nothing more is to happen, asked before each step; nil: it is never stopped
	Memories *sync.Pool   // of simredis.Memory: what others have asked is known; nil: there are no others
}

// Until returns an Options.Stop that stops with ctx. Before each step it lets others in: a shop that sells beside it.
func Until(ctx context.Context) func() error {
	return func() error {
		runtime.Gosched()
		return ctx.Err()
	}
}

// NewHarness makes a harness. Those with the same seeds give the same fingerprints.
func NewHarness(s strategy.Strategy, in engine.Scenario, options Options, seeds engine.Seeds) (*Harness, error) {
	options.Memories = cmp.Or(options.Memories, &sync.Pool{})
	m, known := options.Memories.Get().(*simredis.Simulator)
	var err error
	if !known { // stock and ledger are durable, so that whatever goes wrong is the lock's doing
		if m, err = simredis.NewSimulator(dao.IsKey); err != nil {
			return nil, err
		}
	}
	h := &Harness{
		strategy: s, scenario: in, options: options, memory: m, hasher: engine.NewHasher(seeds),
		polled: map[engine.Fingerprint]struct{}{}, ledgers: map[*simredis.State]ledger{},
	}
	if h.start, err = m.StateAfter(m.Empty(), opening(s.Update == strategy.Segmented)...); err != nil {
		return nil, err
	}
	if s.OnNodes {
		h.masters = cmp.Or(in.Nodes, usualMasters)
	}
	for range in.Processes() {
		var clients []*simredis.Client
		for server := range 1 + h.masters {
			c, err := m.NewClient(server)
			if err != nil {
				return nil, err
			}
			clients = append(clients, c)
		}
		h.clients = append(h.clients, clients)
		h.stores = append(h.stores, dao.NewStore(clients[0].Client, runID, maxOrders))
	}
	return h, nil
}

// Close ends it.
func (h *Harness) Close() {
	for _, c := range slices.Concat(h.clients...) {
		_ = c.Client.Close() // there is nothing behind it
	}
	h.options.Memories.Put(h.memory)
	h.pool.Close()
}

// Run is an execution with what looks at it.
type Run struct {
	Engine    *engine.Execution
	harness   *Harness
	judge     *judge.Judge
	lockers   [][]lock.Locker // of each process: one, or one for each segment of the stock
	past      judge.Past
	sold      int           // sales that have succeeded
	idleSince time.Duration // somebody waits, and nobody living has the lock. Part of the state, up to mayWait
	sleepy    bool          // somebody sleeps on beside a lock that may be free
	undecided bool          // time might end a wait that was not gone on with
	record    *recorder     // nil unless somebody wants to read it
	shown     []Shown       // what Look has seen
}

// Begin begins an execution.
func (h *Harness) Begin() *Run { return h.begin(h.setup()) }

// setup is what the executions of the scenario begin with.
func (h *Harness) setup() engine.Setup {
	return engine.Setup{
		Scenario: h.scenario, Cluster: h.memory.NewCluster(h.start, h.masters), FirstActorName: 'A', Cuts: h.options.Cuts,
	}
}

// begin begins an execution with what all of this harness have in common.
func (h *Harness) begin(setup engine.Setup) *Run {
	setup.Hasher, setup.Pool, setup.Stop = h.hasher, &h.pool, h.options.Stop
	run := &Run{Engine: engine.New(setup), harness: h}
	d := driver{run}
	run.judge = judge.New(d.setup())
	run.Engine.Judge = d
	h.sell(run)
	return run
}

// attach makes all clients send by x from now on.
func (h *Harness) attach(x *engine.Execution) {
	for _, c := range slices.Concat(h.clients...) {
		c.Attach(x.Network())
	}
}

// sell makes each actor sell one piece.
func (h *Harness) sell(run *Run) {
	x := run.Engine
	h.attach(x)
	for i, p := range x.Processes() {
		locks := h.locks(x, p, h.clients[i])
		if locks == nil {
			locks = []lock.Locker{nil} // New has panicked
		}
		run.lockers = append(run.lockers, locks)
	}
	for _, a := range x.Actors() {
		i := a.Index % len(run.lockers)
		p := x.Processes()[i]
		var locks []lock.Locker
		for _, l := range run.lockers[i] {
			locks = append(locks, watchedLock{run, a, l})
		}
		sale := service.Sale{
			Run:    history.Run{ID: runID, Lock: h.strategy.Name, Initial: engine.InitialStock},
			Locker: locks[0], Stock: h.stores[i], Clock: p.Clock(0),
			Log: slog.New(slog.DiscardHandler), Replica: p.Name,
			Think: x.Scenario.Work, Nested: x.Scenario.Nested, Update: h.strategy.Update,
			Backoff: service.Backoff{Delay: engine.PollInterval, MaxDuration: engine.Forever, Clock: p.Clock(engine.PollInterval), Rand: highest},
		}
		if h.strategy.Update == strategy.Segmented {
			sale.Segments = locks
		}
		x.SetBody(a, func(ctx context.Context) error {
			for range x.Scenario.SalesEach() {
				a.BeginSale()
				if _, err := sale.Sell(ctx, a.Sale, lock.Owner(a.Sale)); err != nil {
					return err
				}
				run.sold++
			}
			return nil
		})
	}
}

// locks makes a process's lock, or that of each segment.
func (h *Harness) locks(x *engine.Execution, p *engine.Process, clients []*simredis.Client) []lock.Locker {
	defer x.Recover("New")
	var nodes []redis.Cmdable
	for _, c := range clients[1:] {
		nodes = append(nodes, c.Client)
	}
	parts := strategy.Parts{
		Options: lock.Options{
			Key: lock.Key, TTL: engine.TTL, RetryInterval: engine.PollInterval, WaitTimeout: engine.Forever, Clock: p.Clock(engine.PollInterval),
			Process: p.Name, HandOffLimit: handOffLimit, Notifier: p.Notifier(), Rand: chance(x, p),
		},
		Client: clients[0].Client, CompareAndDelete: "DELEX", Nodes: nodes,
	}
	if h.strategy.Update == strategy.Segmented {
		return service.SegmentLocks(h.strategy, parts, Segments)
	}
	return []lock.Locker{h.strategy.New(parts)}
}

// highest returns what chance gives: always the same, or no schedule could be run again.
func highest(n int64) int64 { return n - 1 }

// chance returns what a process's lock is given: the highest number, as highest, but an id of its own, which is a number of more than 32
// bits. Two processes that draw the same would take the lock of the other for their own.
func chance(x *engine.Execution, p *engine.Process) func(int64) int64 {
	nth := int64(slices.Index(x.Processes(), p))
	return func(n int64) int64 {
		if n > math.MaxUint32 {
			n -= nth
		}
		return highest(n)
	}
}

// tries is how often a schedule is run to see where the code under test differs from itself.
const tries = 50

// Differs says where the code under test does something else when a schedule is run again, "" if it was the same each time.
func (h *Harness) Differs(schedule []engine.Transition) (where string) {
	first := h.journal(schedule)
	for range tries {
		if where = first.FirstDifference(h.journal(schedule)); where != "" {
			break
		}
	}
	return where
}

// journal runs a schedule as far as the code goes along with it.
func (h *Harness) journal(schedule []engine.Transition) *engine.Journal {
	run := h.Begin()
	defer run.Engine.Close()
	j := &engine.Journal{}
	run.Engine.Journal = j
	for _, t := range schedule {
		if !slices.Contains(run.Engine.Transitions(), t) {
			break
		}
		run.Apply(t)
	}
	return j
}

// Trace runs a schedule once more, and records it.
func (h *Harness) Trace(schedule []engine.Transition) trace.Trace {
	run := h.recorded(schedule)
	defer run.Engine.Close()
	return run.record.Trace()
}

// recorded runs a schedule, as far as the code goes along with it.
func (h *Harness) recorded(schedule []engine.Transition) *Run {
	run := h.Begin()
	run.Record()
	for _, t := range schedule {
		if run.Engine.Err() != nil || !slices.Contains(run.Engine.Transitions(), t) {
			break
		}
		run.Apply(t)
	}
	return run
}
