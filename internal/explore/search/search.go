// Package search looks at every schedule of a system, shortest first.
//
// A system is code that can be run from its start, as often as one likes: a Run says what can happen next, does it, and gives a fingerprint
// of the state it is in. The search is breadth first over these states. All schedules of one length come before the longer ones, so what
// is found first is found in the shortest way there is. A state that has been seen is not gone on from. A state is kept as its fingerprint
// and the transition that led to it, and reached again by running its transitions anew.
//
// The package knows nothing of locks or of Redis.
package search

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/language"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/trace"
)

// maxDepth is the length at which a schedule counts as endless.
const maxDepth = 2000

// ErrNames means that a schedule leads to another state if the actors have other names.
var ErrNames = errors.New("the lock treats one actor otherwise than another, because of its name")

// ErrDear means that there are many schedules, and rounds in vain that need not be steps.
var ErrDear = errors.New("rounds in vain cost too many schedules")

// Run is one run of a system.
type Run interface {
	Transitions() []engine.Transition // what can happen next, in a fixed order
	// Names are these transitions' in every state with this fingerprint, whatever led to it; nil: they have none.
	Names(of []engine.Transition) []engine.Transition
	// View stands for all that t can see of the state, with all names as they are; false: that may be everything.
	View(t engine.Transition) (view engine.Fingerprint, has bool)
	Apply(t engine.Transition) bool            // lets t happen; false: it turned out to be no transition of its own
	Check() (found []anomaly.Found, over bool) // what the last transition has shown, and whether nothing can follow
	Sight() Sight                              // what else there is to see
	Fingerprint() engine.Fingerprint           // tells states apart
	Inspect()                                  // looks for what moves behind its back, which Err tells then
	Blocked(stacks []string) error             // whether it waits where nobody sees it; called while the run goes on
	Busy(stacks []string) error                // where it is, when it comes to no end
	Turn() uint64                              // which turn the code has; 0: none. Called while the run goes on
	Err() error                                // why the run cannot go on
	Close()
	Waiters
}

// Waiters of a run have asked in vain, and may ask again.
type Waiters interface {
	Whose(t engine.Transition) int // the process that t happens to; below zero: none
	HasStuttered(process int) bool // whether any of its tasks ever waited so
	Stutters(process int) []engine.Stutter
	Repeat(task uint16) bool               // reports whether that changed nothing but what its process remembers
	Beside(process int) engine.Fingerprint // of all but what that remembers
}

// System is what is searched. One worker uses it at a time.
type System interface {
	Begin(backwards bool) Run // at one of the two starts that there are
	Trace(schedule []engine.Transition, backwards bool) trace.Trace
	Differs(schedule []engine.Transition, backwards bool) string // where the code does something else this time; "": nowhere
	Close()
}

// Goal says what a search is for.
type Goal struct {
	Anomalies []anomaly.Anomaly // to look for
	All       bool              // go on until each was found, or everything was seen; otherwise the first ends it
	Progress  func(Result)      // called several times a second, and must not wait; may be nil
	Language  language.Language // of what a result says
	OneStart  bool              // begin forwards alone: both starts lead to the same states
	Symmetric bool              // the two starts differ by names alone: the search checks that, and fails with ErrNames

	Again bool // the same code was searched before, so it is inspected rarely

	// So many schedules are explored with a step for each round in vain. With more it fails with ErrDear, if there were too many of these.
	// 0: no limit.
	Awake int

	// So often may a process ask in vain, which is no step. The search checks that it makes no difference, and fails with
	// execution.ErrCounts if it does.
	Stuttering int
	Processes  int // there are so many
}

// Counterexample is the shortest schedule that shows an anomaly.
type Counterexample struct {
	Anomaly  anomaly.Anomaly
	Length   int    // steps
	Schedule string // for a replay
	Trace    trace.Trace
}

// Result is what a search found.
type Result struct {
	Schedules int // runs of the code from its start, each to a step that no other took
	States    int // that differ
	Depth     int // steps of the longest schedule
	Seconds   float64
	Complete  bool   // nothing is left to explore
	Bound     string // which bound was hit, or that the search was interrupted; "" for neither
	Coverage  Coverage

	Interrupted bool // by the end of its context

	// Found has the shortest schedule for each anomaly that was found, in the order in which they were.
	Found []Counterexample
}

// node is a state, by the schedule that first reached it: its parent's, and one transition.
type node struct {
	parent     int32
	transition engine.Transition
	print      engine.Fingerprint
}

// The nodes that are no state's child: the starts.
const (
	forwards  = 0
	backwards = 1
)

type search struct {
	goal    Goal
	bounds  Bounds
	ctx     context.Context //nolint:containedctx // that ends with the search
	halt    context.CancelCauseFunc
	systems []System // of each worker
	started time.Time
	tell    func() // how far it is

	nodes      []node
	visited    map[engine.Fingerprint]struct{}
	schedules  atomic.Int64
	working    chan struct{} // closed when no worker is at a level any more; one may never come back
	watch      *watch
	symmetry   symmetry
	stuttering stuttering
	result     Result
}

// Do searches. Each worker has a system of its own, made by begin. That a search was cut short, by bounds or by ctx, is no error. It
// fails with execution.ErrBlind, or when a run fails.
func Do(ctx context.Context, begin func() (System, error), goal Goal, bounds Bounds) (Result, error) {
	s := newSearch(goal, bounds)
	s.visited = map[engine.Fingerprint]struct{}{}
	if !goal.OneStart && !goal.Symmetric {
		s.nodes = append(s.nodes, node{parent: -1})
	}
	if goal.Progress != nil {
		s.tell = func() { s.tally(); goal.Progress(s.result) }
	}
	err := s.do(ctx, begin, s.run)
	return s.result, err
}

func newSearch(goal Goal, bounds Bounds) *search {
	s := &search{
		goal: goal, bounds: bounds, started: time.Now(),
		nodes: []node{{parent: -1}}, result: Result{States: 1}, working: make(chan struct{}),
		symmetry: symmetry{seen: map[engine.Fingerprint]bool{}}, stuttering: stuttering{seen: map[engine.Fingerprint]bool{}},
		tell: func() {},
	}
	close(s.working)
	return s
}

// do makes a system for each worker, and lets run use them.
func (s *search) do(ctx context.Context, begin func() (System, error), run func() error) error {
	workers := cmp.Or(s.bounds.Workers, runtime.GOMAXPROCS(0))
	defer s.limit(ctx)()
	s.watch = watchOver(workers)
	defer s.close()
	for range workers {
		system, err := begin()
		if err != nil {
			return err
		}
		s.systems = append(s.systems, system)
	}
	err := run()
	s.tally()
	return err
}

// close closes the systems, once all workers are back.
func (s *search) close() {
	closing := func() {
		for _, system := range s.systems {
			system.Close()
		}
	}
	select {
	case <-s.working:
		closing()
	default:
		go func() { <-s.working; closing() }()
	}
}

func (s *search) run() error {
	level := []int32{forwards, backwards}[:len(s.nodes)]
	for len(level) > 0 {
		children, err := s.expand(level)
		if err != nil {
			return err
		}
		if s.takeBound() {
			return nil
		}
		level = s.adopt(level[:0], children)
		if err := s.checkCost(); err != nil {
			return err
		}
		if s.done() {
			return nil
		}
		if len(level) > 0 {
			s.result.Depth++
		}
		if s.result.Depth > maxDepth {
			s.result.Bound = tooDeep().In(s.goal.Language)
			return nil
		}
		s.tell()
	}
	s.result.Complete = true
	return nil
}

// adopt takes down what children show, and adds those to the next level that are new and can be gone on from.
func (s *search) adopt(level []int32, children [][]child) []int32 {
	for _, c := range slices.Concat(children...) {
		s.found(c)
		_, known := s.visited[c.print]
		s.result.Coverage.add(c.transition, c.sight, known, c.over)
		if known && !s.bounds.EveryState {
			continue
		}
		s.visited[c.print] = struct{}{}
		s.result.States++
		if c.over {
			continue
		}
		level = append(level, int32(len(s.nodes))) //nolint:gosec // memory ends before int32 does
		s.nodes = append(s.nodes, c.node)
	}
	return level
}

// checkCost gives an error if it is cheaper to go on in another way.
func (s *search) checkCost() error {
	schedules := s.schedules.Load()
	switch {
	case s.done():
		return nil
	case s.goal.Awake > 0 && schedules >= int64(s.goal.Awake) && s.result.Coverage.Beyond:
		return ErrDear
	case s.stuttering.isCostly(schedules):
		return engine.ErrCounts
	default:
		return nil
	}
}

// done reports whether what was found is enough.
func (s *search) done() bool {
	if s.goal.All {
		return len(s.result.Found) == len(s.goal.Anomalies)
	}
	return len(s.result.Found) > 0
}

func (s *search) tally() {
	s.result.Schedules = int(s.schedules.Load())
	s.result.Seconds = time.Since(s.started).Seconds()
}

// path returns the schedule to a node, and the root that it begins at.
func (s *search) path(n int32) (path []engine.Transition, root int32) {
	for ; s.nodes[n].parent >= 0; n = s.nodes[n].parent {
		path = append(path, s.nodes[n].transition)
	}
	slices.Reverse(path)
	return path, n
}

// found takes down what a child shows, if nothing shorter did.
func (s *search) found(c child) {
	slices.SortStableFunc(c.found, func(a, b anomaly.Found) int {
		return slices.Index(anomaly.All(), a.Anomaly) - slices.Index(anomaly.All(), b.Anomaly)
	})
	for _, f := range c.found {
		known := slices.ContainsFunc(s.result.Found, func(e Counterexample) bool { return e.Anomaly == f.Anomaly })
		if known || !slices.Contains(s.goal.Anomalies, f.Anomaly) || !s.goal.All && len(s.result.Found) > 0 {
			continue
		}
		path, root := s.path(c.parent)
		path = append(path, c.transition)
		t := s.systems[0].Trace(path, root == backwards)
		t.Verdict = f.Says
		s.result.Found = append(s.result.Found, Counterexample{f.Anomaly, len(path), t.Schedule(), t})
	}
}
