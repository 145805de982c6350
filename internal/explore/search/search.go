// Package search looks at every schedule of a system, shortest first.
//
// A system is code that can be run from its start, as often as one likes: a Run says what can happen next, does it, and gives a fingerprint
// of the state it is in. The search is breadth first over these states. All schedules of one length come before the longer ones, so what
// is found first is found in the shortest way there is. A state that has been seen is not gone on from. A state is kept as its fingerprint
// and the step that led to it, and reached again by running its steps anew. Where chance may lead elsewhere, that is repeated, and the
// other states on the way are gone on from, too.
//
// The package knows nothing of locks, of Redis, or of what a step is.
package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// maxDepth is the length at which a schedule counts as endless.
const maxDepth = 2000

// ErrUnrepeatable means that the same schedule led to two different states.
var ErrUnrepeatable = errors.New("the same steps led to two different states")

// ErrLost means that a run does not come back, and nobody knows why.
var ErrNoProgress = errors.New("a run does not come back")

// Fingerprint stands for a state, or for a part of one. Two that differ have the same one with a chance of 1 in 2¹²⁸.
type Fingerprint [2]uint64

// Append appends the fingerprint's 16 bytes to b.
func (f Fingerprint) Append(b []byte) []byte {
	for _, half := range f {
		b = binary.LittleEndian.AppendUint64(b, half)
	}
	return b
}

// Run is one run of a system, whose steps are of type S.
type Run[S comparable] interface {
	Transitions() []S         // what can happen next, in a fixed order
	Apply(step S) (own bool)  // lets it happen; false: it turned out to be no step of its own
	Check() Observation       // what there is to see after the last step
	Fingerprint() Fingerprint // tells states apart
}

// Sight is what there is to see after a step.
type Observation struct {
	Hits     []string // what the step has shown, the most important first
	Terminal bool     // nothing can follow
	Note     any      // for Goal.Take
}

// System is what is searched. One worker uses it at a time.
type System[S comparable] interface {
	// Play begins a run at the start and gives it to f. The run ends after that. Play returns why the run could not go on.
	Play(f func(Run[S])) error
	// Explain adds to an error the schedule that led to it.
	Explain(err error, path []S) error
	// Lost says why the run that goes on does not come back, nil if it is not known to be lost. Other goroutines call it meanwhile.
	DiagnoseRun(why CheckReason) error
	Close()
}

// Loss is why a search asks for a run.
type CheckReason uint8

// The reasons.
const (
	PeriodicCheck CheckReason = iota // a search asks every now and then
	NoProgress                       // there was no step for long
	WorkerExited                     // the run has ended the goroutine of its worker
)

// Goal says what a search is for.
type Goal[S comparable] struct {
	Kinds    []string     // of what is shown, that are looked for; none: everything is looked at
	All      bool         // go on until each kind was found, or everything was seen; otherwise the first ends it
	Progress func(Result) // called several times a second, and must not wait; may be nil

	// Attempts is how often a run is repeated that chance leads elsewhere, to another state or where a step cannot happen. 0: the system
	// leaves nothing to chance.
	Attempts int

	OnEdge func(Edge[S]) // is given each step that was taken; may be nil
	// Go is asked after all schedules of one length whether there is a reason not to go on.
	OnLevel func(schedules int) error // may be nil
}

// Edge is a step from one state to another. States are numbered in the order in which they were found; 0 is the start.
type Edge[S comparable] struct {
	Observation
	From, To int32
	Step     S
	State    Fingerprint // To's
	New      bool        // nothing shorter leads to the state
}

// Found is the shortest schedule that shows something.
type ShortestSchedule[S comparable] struct {
	Kind string
	Path []S
}

// Result is what a search has seen.
type Result struct {
	Schedules int // runs of the code from its start, each to a step that no other took
	States    int // that differ
	Depth     int // steps of the longest schedule
	Seconds   float64
	Complete  bool     // nothing is left to explore
	BoundHit  BoundHit // what ended it before that

	Interrupted bool // by the end of its context

	Diverged  int // runs that chance led elsewhere, and that were repeated
	Unreached int // steps that no repetition led to again
}

// node is a state, by the schedule that first reached it: its parent's, and one step.
type node[S comparable] struct {
	parent int32 // -1: it is the start
	step   S
	state  Fingerprint
}

type search[S comparable] struct {
	goal    Goal[S]
	bounds  Bounds
	ctx     context.Context //nolint:containedctx // that ends with the search
	cancel  context.CancelCauseFunc
	systems []System[S] // one for each worker
	started time.Time

	nodes         []node[S]
	stateNumbers  map[Fingerprint]int32 // of nodes
	schedules     atomic.Int64
	diverged      atomic.Int64
	unreached     atomic.Int64
	workersDone   chan struct{} // closed when no worker is at a level any more; one may never come back
	watchTimer    *time.Timer   // until the runs are asked for again
	watchInterval time.Duration // before that
	result        Result
	found         []ShortestSchedule[S]
}

// Do searches. It gives the shortest schedule for each kind that was found, in the order in which they were. Each worker has a system of
// its own, made by begin. That a search was cut short, by bounds or by ctx, is no error. It fails when a run fails, or is lost.
func BreadthFirst[S comparable](ctx context.Context, begin func() (System[S], error), goal Goal[S], bounds Bounds) (Result, []ShortestSchedule[S], error) {
	s := &search[S]{
		goal: goal, bounds: bounds, started: time.Now(), nodes: []node[S]{{parent: -1}}, stateNumbers: map[Fingerprint]int32{},
		workersDone: make(chan struct{}), watchTimer: time.NewTimer(firstCheckInterval), watchInterval: firstCheckInterval,
	}
	close(s.workersDone)
	defer s.watchTimer.Stop()
	defer s.applyTimeLimit(ctx)()
	defer s.closeSystems()
	for range cmp.Or(bounds.Workers, runtime.GOMAXPROCS(0)) {
		system, err := begin()
		if err != nil {
			return Result{}, nil, err
		}
		s.systems = append(s.systems, system)
	}
	err := s.run()
	s.updateResult()
	return s.result, s.found, err
}

// close closes the systems, once all workers are back.
func (s *search[S]) closeSystems() {
	closing := func() {
		<-s.workersDone
		for _, system := range s.systems {
			system.Close()
		}
	}
	select {
	case <-s.workersDone:
		closing()
	default:
		go closing()
	}
}

// run searches one length of schedules after the other.
func (s *search[S]) run() error {
	for level := []int32{0}; len(level) > 0; {
		var err error
		if level, err = s.nextLevel(level); err != nil || s.result.BoundHit.Limit != NoLimit || s.hasFoundEnough() {
			return err
		}
		if s.goal.OnLevel != nil {
			if err := s.goal.OnLevel(int(s.schedules.Load())); err != nil {
				return err
			}
		}
		if len(level) > 0 {
			s.result.Depth++
		}
		if s.result.Depth > maxDepth {
			s.result.BoundHit = BoundHit{LimitSteps, maxDepth}
			return nil
		}
		s.report()
	}
	s.result.Complete = s.unreached.Load() == 0
	return nil
}

// next goes on from the states of one length, strays at once, and gives those of the next. If a bound is hit, that is in the result.
func (s *search[S]) nextLevel(level []int32) (next []int32, err error) {
	for len(level) > 0 {
		children, err := s.expandLevel(level)
		if err != nil || s.recordBoundHit() {
			return nil, err
		}
		var strays []int32
		for _, c := range slices.Concat(children...) {
			switch isNew := s.addChild(c); {
			case isNew && c.stray:
				strays = append(strays, s.last())
			case isNew && !c.Terminal:
				next = append(next, s.last())
			}
		}
		level = strays
	}
	return next, nil
}

// last returns the number of the state that was found last.
func (s *search[S]) last() int32 { return int32(len(s.nodes) - 1) } //nolint:gosec // memory ends before int32 does

// adopt takes down what a child shows, and the state it led to. It reports whether that is to be gone on from, unless nothing can follow.
func (s *search[S]) addChild(c child[S]) (isNew bool) {
	s.recordHits(c)
	to, known := s.stateNumbers[c.state]
	if isNew = !known || s.bounds.EveryState; isNew {
		s.nodes = append(s.nodes, c.node)
	}
	if !known {
		to = s.last()
		s.stateNumbers[c.state] = to
	}
	if s.goal.OnEdge != nil {
		s.goal.OnEdge(Edge[S]{c.Observation, c.parent, to, c.step, c.state, !known})
	}
	return isNew
}

// done reports whether what was found is enough.
func (s *search[S]) hasFoundEnough() bool {
	return len(s.found) > 0 && (!s.goal.All || len(s.found) == len(s.goal.Kinds))
}

// tally counts what has been seen so far.
func (s *search[S]) updateResult() {
	s.result.States = len(s.nodes)
	s.result.Schedules = int(s.schedules.Load())
	s.result.Diverged, s.result.Unreached = int(s.diverged.Load()), int(s.unreached.Load())
	s.result.Seconds = time.Since(s.started).Seconds()
}

// report says how far the search is.
func (s *search[S]) report() {
	if s.goal.Progress != nil {
		s.updateResult()
		s.goal.Progress(s.result)
	}
}

// path returns the nodes on the way to a node, the start left out.
func (s *search[S]) path(to int32) (path []node[S]) {
	for n := to; s.nodes[n].parent >= 0; n = s.nodes[n].parent {
		path = append(path, s.nodes[n])
	}
	slices.Reverse(path)
	return path
}

// steps returns those of a path, and what follows them.
func pathSteps[S comparable](path []node[S], after ...S) (all []S) {
	for _, n := range path {
		all = append(all, n.step)
	}
	return append(all, after...)
}

// find takes down what a child shows, if nothing shorter did.
func (s *search[S]) recordHits(c child[S]) {
	for _, kind := range c.Hits {
		known := slices.ContainsFunc(s.found, func(f ShortestSchedule[S]) bool { return f.Kind == kind })
		if known || !slices.Contains(s.goal.Kinds, kind) || !s.goal.All && len(s.found) > 0 {
			continue
		}
		s.found = append(s.found, ShortestSchedule[S]{kind, pathSteps(s.path(c.parent), c.step)})
	}
}
