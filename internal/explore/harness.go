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
	// runID is the id of the run that the sales of an exploration belong to.
	runID = "explored"
	// maxOrders is the ledger's limit of orders, far above what a scenario's sales can write.
	maxOrders = 1000
	// handOffLimit is as small as possible, so that few sales suffice for the lock to go to another process.
	handOffLimit = 1
	// defaultMasters is the number of masters of a lock on several nodes, unless the scenario says otherwise: the smallest number at which
	// one of them may fail.
	defaultMasters = 3
	// Segments is the number of segments of the stock, for strategies that divide it. All but the first are sold out, so that every sale
	// moves on to the first and meets the others there.
	Segments = 2
)

// Harness runs a strategy in a scenario, as often as needed. A search has one Harness for each worker. It keeps the resources that its
// executions share, and its executions run one at a time.
type Harness struct {
	strategy     strategy.Strategy // strategy under test
	scenario     engine.Scenario   // scenario of all executions
	options      Options
	simulator    *simredis.Simulator             // simulated Redis that answers all commands
	start        *simredis.State                 // contents of the first server at the beginning of a run
	clients      [][]*simredis.Client            // indexed by process and server
	stores       []*dao.Store                    // indexed by process
	masters      int                             // masters that the lock is on, apart from the stock's server; 0: the lock is on that server
	hasher       *engine.Hasher                  // computes state hashes
	pool         engine.Pool                     // goroutines and tasks of ended executions, for reuse
	watchdog     engine.Watchdog                 // detects runs that make no progress
	runs         int                             // runs that a search has begun
	checkedPolls map[engine.Fingerprint]struct{} // hashes of replies after which waiters have been seen to repeat their attempts
	ledgers      map[*simredis.State]ledger      // ledgers read so far, by the state that a command led to
}

// Options configures a Harness.
type Options struct {
	engine.DisabledReductions
	Starvation    bool         // whether to look for starved sales; the order of the waiters is then part of each state
	Stop          func() error // called before each step; its error ends the run. Nil: runs are never stopped
	SimulatorPool *sync.Pool   // pool of *simredis.Simulator, so that harnesses simulate each command only once; nil: not shared
}

// StopWhenDone returns an Options.Stop that stops a run when ctx ends. It also yields before each step, so that a shop in the same process
// can serve its requests meanwhile.
func StopWhenDone(ctx context.Context) func() error {
	return func() error {
		runtime.Gosched()
		return ctx.Err()
	}
}

// NewHarness returns a Harness, which must be closed. Harnesses with the same seeds compute the same state hashes.
func NewHarness(s strategy.Strategy, scenario engine.Scenario, options Options, seeds engine.Seeds) (*Harness, error) {
	options.SimulatorPool = cmp.Or(options.SimulatorPool, &sync.Pool{})
	simulator, ok := options.SimulatorPool.Get().(*simredis.Simulator)
	var err error
	if !ok { // stock and ledger are durable keys, so that whatever goes wrong is the lock's doing
		if simulator, err = simredis.NewSimulator(dao.IsKey); err != nil {
			return nil, err
		}
	}
	h := &Harness{
		strategy: s, scenario: scenario, options: options, simulator: simulator, hasher: engine.NewHasher(seeds),
		checkedPolls: map[engine.Fingerprint]struct{}{}, ledgers: map[*simredis.State]ledger{},
	}
	if h.start, err = simulator.StateAfter(simulator.Empty(), openingCommands(s.Update == strategy.Segmented)...); err != nil {
		return nil, err
	}
	if s.OnNodes {
		h.masters = cmp.Or(scenario.Nodes, defaultMasters)
	}
	for range scenario.Processes() {
		var clients []*simredis.Client
		for server := range 1 + h.masters {
			c, err := simulator.NewClient(server)
			if err != nil {
				return nil, err
			}
			clients = append(clients, c)
		}
		h.clients = append(h.clients, clients)
		store := dao.NewStore(clients[0].Client, runID, maxOrders)
		if s.Check != "" {
			store.SetTokenCheck(s.Check)
		}
		h.stores = append(h.stores, store)
	}
	return h, nil
}

// Close releases the harness's resources, and returns its simulator to the pool.
func (h *Harness) Close() {
	for _, c := range slices.Concat(h.clients...) {
		_ = c.Client.Close() // a simulated client has no connection that could fail
	}
	h.options.SimulatorPool.Put(h.simulator)
	h.pool.Close()
}

// Run is one execution of a scenario under observation: the schedule so far, its judge, and a recorder if a reader wants to see the
// schedule.
type Run struct {
	Engine    *engine.Execution // execution of the scenario
	harness   *Harness          // harness that began the run
	judge     *judge.Judge      // judge of the run
	lockers   [][]lock.Locker   // indexed by process: its lock, or its lock for each segment of the stock
	excuses   judge.Excuses     // events that excuse behavior; judgeDriver.Excuses adds the rest
	soldCount int               // sales that have succeeded

	idleSince            time.Duration // time since which an actor waits and no live process holds the lock; part of the state, up to maxIdle
	sleepsBesideFreeLock bool          // a waiter sleeps for longer than maxIdle although the lock's key is free
	undecided            bool          // the schedule ends with a wait, and it is unknown whether time would end it

	recorder *recorder    // nil: the run is not recorded
	hits     []AnomalyHit // anomalies that RecordAnomalies has added
}

// Begin begins an execution of the scenario.
func (h *Harness) Begin() *Run { return h.begin(h.setup()) }

// setup returns the initial configuration of the scenario's executions.
func (h *Harness) setup() engine.Setup {
	return engine.Setup{
		Scenario: h.scenario, Cluster: h.simulator.NewCluster(h.start, h.masters), FirstActorName: 'A',
		DisabledReductions: h.options.DisabledReductions,
	}
}

// begin begins an execution, with the resources that all executions of the harness share.
func (h *Harness) begin(setup engine.Setup) *Run {
	setup.Hasher, setup.Pool, setup.Stop = h.hasher, &h.pool, h.options.Stop
	run := &Run{Engine: engine.New(setup), harness: h}
	d := judgeDriver{run}
	run.judge = judge.New(d.setup())
	run.Engine.Judge = d
	h.startSales(run)
	return run
}

// attach connects all Redis clients to an execution.
func (h *Harness) attach(x *engine.Execution) {
	for _, c := range slices.Concat(h.clients...) {
		c.Attach(x.Network())
	}
}

// startSales creates the locks, and gives each actor its task: to sell as many pieces as the scenario says, one after the other.
func (h *Harness) startSales(run *Run) {
	x := run.Engine
	h.attach(x)
	for i, p := range x.Processes() {
		locks := h.newLocks(x, p, h.clients[i])
		if locks == nil {
			locks = []lock.Locker{nil} // New has panicked, which the execution reports
		}
		p.ShareMemory(locks)
		run.lockers = append(run.lockers, locks)
	}
	for _, a := range x.Actors() {
		i := a.Index % len(run.lockers)
		p := x.Processes()[i]
		var locks []lock.Locker
		for _, l := range run.lockers[i] {
			locks = append(locks, observedLock{run, a, l})
		}
		sale := service.Sale{
			Run:    history.Run{ID: runID, Lock: h.strategy.Name, Initial: engine.InitialStock},
			Locker: locks[0], Stock: h.stores[i], Clock: p.Clock(0),
			Log: slog.New(slog.DiscardHandler), Replica: p.Name,
			Think: x.Scenario.Work, Nested: x.Scenario.Nested, Update: h.strategy.Update,
			Backoff: service.Backoff{Delay: engine.PollInterval, MaxDuration: engine.Forever, Clock: p.Clock(engine.PollInterval), Rand: fixedRand},
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
				run.soldCount++
			}
			return nil
		})
	}
}

// newLocks returns the lock of a process, or its lock for each segment; nil if New has panicked.
func (h *Harness) newLocks(x *engine.Execution, p *engine.Process, clients []*simredis.Client) []lock.Locker {
	defer x.Recover("New")
	var nodes []redis.Cmdable
	for _, c := range clients[1:] {
		nodes = append(nodes, c.Client)
	}
	parts := strategy.Parts{
		Options: lock.Options{
			Key: lock.Key, TTL: engine.TTL, RetryInterval: engine.PollInterval, WaitTimeout: engine.Forever, Clock: p.Clock(engine.PollInterval),
			Process: p.Name, HandOffLimit: handOffLimit, Notifier: p.Notifier(), Rand: deterministicRand(x, p),
		},
		Client: clients[0].Client, CompareAndDelete: "DELEX", Nodes: nodes,
	}
	if h.strategy.Update == strategy.Segmented {
		return service.NewSegmentLocks(h.strategy, parts, Segments)
	}
	return []lock.Locker{h.strategy.New(parts)}
}

// fixedRand returns the largest number in [0, n) in place of a random one, because schedules must be repeatable.
func fixedRand(n int64) int64 { return n - 1 }

// deterministicRand returns the random source of a process's lock. Small ranges, such as those of delays, give their largest number.
// Numbers of more than 32 bits serve as ids and differ between processes: two processes with the same id would mistake each other's lock
// for their own.
func deterministicRand(x *engine.Execution, p *engine.Process) func(int64) int64 {
	processIndex := int64(slices.Index(x.Processes(), p))
	return func(n int64) int64 {
		if n > math.MaxUint32 {
			n -= processIndex
		}
		return fixedRand(n)
	}
}

// maxRepetitions is the number of times that FindDifference repeats a schedule. Code that differs in one run of ten is then caught with a
// probability of more than 99 %.
const maxRepetitions = 50

// FindDifference repeats a schedule to find out where nondeterministic code first behaves differently. It returns an ErrUnrepeatable with
// that place, or nil if the code behaves the same each time.
func (h *Harness) FindDifference(schedule []engine.Transition) error {
	first := h.journal(schedule)
	for range maxRepetitions {
		if err := first.FirstDifference(h.journal(schedule)); err != nil {
			return err
		}
	}
	return nil
}

// journal runs a schedule as far as the code follows it, and returns a journal of what the code did.
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

// Trace runs a schedule again, as far as the code follows it, and returns its steps.
func (h *Harness) Trace(schedule []engine.Transition) trace.Trace {
	run := h.recordedRun(schedule)
	defer run.Engine.Close()
	return run.recorder.Trace()
}

// recordedRun runs a schedule with a recorder, as far as the code follows it.
func (h *Harness) recordedRun(schedule []engine.Transition) *Run {
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
