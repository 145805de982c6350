// Package search explores every schedule of a system, shortest first.
//
// A System is code that can be run from its start any number of times. A Run lists what can happen next, makes one of it happen, and
// returns a fingerprint of the state that this leads to. The search is breadth first over these states: all schedules of one length come
// before longer ones, so the first schedule found is one of the shortest. A state that was seen before is not explored again. A state is
// stored as its fingerprint and the step that led to it, and is reached again by running its steps again. If chance may lead a run to
// another state, the run is repeated, and the other states that it reaches are explored as well.
//
// The package knows nothing of locks, of Redis, or of what a step is. Begin with BreadthFirst.
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

// maxDepth is the length, in steps, at which a schedule counts as endless.
const maxDepth = 2000

// ErrUnrepeatable is returned when the same schedule led to two different states.
var ErrUnrepeatable = errors.New("the same steps led to two different states")

// ErrNoProgress is returned when a run makes no progress, and the system does not know why.
var ErrNoProgress = errors.New("a run makes no progress")

// Fingerprint is a 128-bit hash of a state, or of a part of one. Two different states collide with a probability of 1 in 2¹²⁸.
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
	Transitions() []S           // Transitions lists the steps that can happen next, in a fixed order.
	Apply(step S) (isStep bool) // Apply makes a step happen; it returns false if the result is not a step of its own.
	Check() Observation         // Check returns what the last step has shown.
	Fingerprint() Fingerprint   // Fingerprint returns the hash of the state.
}

// Observation is what a step has shown.
type Observation struct {
	Hits     []string // kinds that the step has shown, the most important first; see Goal.Kinds
	Terminal bool     // no step can follow
	Note     any      // value for Goal.OnEdge; the search does not read it
}

// System is the subject of a search. Only one worker uses it at a time.
type System[S comparable] interface {
	// Play starts a run, passes it to f, and ends it. It returns an error if the run failed.
	Play(f func(Run[S])) error
	// Explain adds to an error the schedule that led to it.
	Explain(err error, path []S) error
	// DiagnoseRun returns an error that says why the current run makes no progress; nil if nothing is known to be wrong. It may be called
	// from other goroutines during the run.
	DiagnoseRun(why CheckReason) error
	// Close releases the system.
	Close()
}

// CheckReason is why a search asks DiagnoseRun.
type CheckReason uint8

// The reasons for a check.
const (
	PeriodicCheck CheckReason = iota // the regular check, several times a second
	NoProgress                       // no worker has taken a step for Bounds.StallTimeout
	WorkerExited                     // the run has ended its worker's goroutine
)

// Goal says what a search looks for, and how it reports.
type Goal[S comparable] struct {
	Kinds    []string     // kinds to look for; none: explore everything
	All      bool         // go on until each of Kinds was found or everything was explored; false: stop at the first
	Progress func(Result) // called several times a second; must not block; may be nil

	// Attempts is the number of times that a run is tried if chance leads it elsewhere: to another state, or to a state in which a step
	// cannot happen. 0: the system is deterministic, and a run that ends elsewhere is an error.
	Attempts int

	OnEdge func(Edge[S]) // called with each step taken; may be nil
	// OnLevel is called when all schedules of one length have been explored. An error ends the search.
	OnLevel func(schedules int) error // may be nil
}

// Edge is a step from one state to another. States are numbered in the order in which they were found; 0 is the start.
type Edge[S comparable] struct {
	Observation
	From, To int32       // numbers of the states
	Step     S           // step that leads from From to To
	State    Fingerprint // hash of the state with the number To
	New      bool        // the step leads to a state that was not known before
}

// ShortestSchedule is one of the shortest schedules that show something of a kind.
type ShortestSchedule[S comparable] struct {
	Kind string // one of Goal.Kinds
	Path []S    // steps of the schedule
}

// Result is how much a search has explored.
type Result struct {
	Schedules int      // runs of the code from its start, one for each step taken
	States    int      // number of different states
	Depth     int      // steps of the longest schedule
	Seconds   float64  // real time so far
	Complete  bool     // nothing is left to explore
	BoundHit  BoundHit // bound that ended the search early

	Interrupted bool // the search's context ended it early

	Diverged  int // runs that chance led elsewhere
	Unreached int // steps that no repetition reached again
}

// node is a state with the schedule that reached it first: its parent's schedule, and one step.
type node[S comparable] struct {
	parent int32       // -1: the node is the start
	step   S           // step from the parent's state
	state  Fingerprint // hash of the state
}

// search is a search in progress.
type search[S comparable] struct {
	goal    Goal[S]
	bounds  Bounds
	ctx     context.Context         //nolint:containedctx // ends with the search
	cancel  context.CancelCauseFunc // ends ctx with a BoundHit or errFinished
	systems []System[S]             // one for each worker
	started time.Time               // real time at which the search began

	nodes         []node[S]             // states by number, each with the step that first led to it
	stateNumbers  map[Fingerprint]int32 // index in nodes
	schedules     atomic.Int64          // counter for Result.Schedules
	diverged      atomic.Int64          // counter for Result.Diverged
	unreached     atomic.Int64          // counter for Result.Unreached
	workersDone   chan struct{}         // closed when no worker is exploring a level; if a run is lost, it may stay open
	watchdogTimer *time.Timer           // fires when the next check of the runs is due
	watchInterval time.Duration         // interval between two such checks; it grows
	result        Result                // what was explored so far
	found         []ShortestSchedule[S] // shortest schedules so far, in the order in which they were found
}

// BreadthFirst searches for goal, within bounds, with a system from newSystem for each worker. It returns a shortest schedule for each kind
// that was found, in the order in which they were found. It fails if a run fails or makes no progress, but not if bounds or ctx end
// it early.
func BreadthFirst[S comparable](
	ctx context.Context, newSystem func() (System[S], error), goal Goal[S], bounds Bounds,
) (Result, []ShortestSchedule[S], error) {
	s := &search[S]{
		goal: goal, bounds: bounds, started: time.Now(), nodes: []node[S]{{parent: -1}}, stateNumbers: map[Fingerprint]int32{},
		workersDone: make(chan struct{}), watchdogTimer: time.NewTimer(firstCheckInterval), watchInterval: firstCheckInterval,
	}
	close(s.workersDone)
	defer s.watchdogTimer.Stop()
	defer s.applyTimeLimit(ctx)()
	defer s.closeSystems()
	for range cmp.Or(bounds.Workers, runtime.GOMAXPROCS(0)) {
		system, err := newSystem()
		if err != nil {
			return Result{}, nil, err
		}
		s.systems = append(s.systems, system)
	}
	err := s.run()
	s.updateResult()
	return s.result, s.found, err
}

// closeSystems closes the systems once all workers have returned. It does not wait for the workers.
func (s *search[S]) closeSystems() {
	closeAll := func() {
		<-s.workersDone
		for _, system := range s.systems {
			system.Close()
		}
	}
	select {
	case <-s.workersDone:
		closeAll()
	default:
		go closeAll()
	}
}

// run explores the schedules of one length after the other.
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

// nextLevel explores the steps from the states at one depth, and returns the states at the next depth. Steps from stray states are explored
// at once. A bound that is hit is stored in the result.
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

// addChild records what a child shows, and its state. It reports whether the search has to go on from that state, unless the state is
// terminal.
func (s *search[S]) addChild(c child[S]) (isNew bool) {
	s.recordHits(c)
	to, isKnown := s.stateNumbers[c.state]
	if isNew = !isKnown || s.bounds.EveryState; isNew {
		s.nodes = append(s.nodes, c.node)
	}
	if !isKnown {
		to = s.last()
		s.stateNumbers[c.state] = to
	}
	if s.goal.OnEdge != nil {
		s.goal.OnEdge(Edge[S]{c.Observation, c.parent, to, c.step, c.state, !isKnown})
	}
	return isNew
}

// hasFoundEnough reports whether the goal is reached.
func (s *search[S]) hasFoundEnough() bool {
	return len(s.found) > 0 && (!s.goal.All || len(s.found) == len(s.goal.Kinds))
}

// updateResult copies the counters to the result.
func (s *search[S]) updateResult() {
	s.result.States = len(s.nodes)
	s.result.Schedules = int(s.schedules.Load())
	s.result.Diverged = int(s.diverged.Load())
	s.result.Unreached = int(s.unreached.Load())
	s.result.Seconds = time.Since(s.started).Seconds()
}

// report passes the result so far to Goal.Progress.
func (s *search[S]) report() {
	if s.goal.Progress != nil {
		s.updateResult()
		s.goal.Progress(s.result)
	}
}

// path returns the nodes on the way from the start to a node, without the start.
func (s *search[S]) path(to int32) (path []node[S]) {
	for n := to; s.nodes[n].parent >= 0; n = s.nodes[n].parent {
		path = append(path, s.nodes[n])
	}
	slices.Reverse(path)
	return path
}

// pathSteps returns the steps of a path, followed by the steps after.
func pathSteps[S comparable](path []node[S], after ...S) (all []S) {
	for _, n := range path {
		all = append(all, n.step)
	}
	return append(all, after...)
}

// recordHits stores the schedule of a child for each kind that it is the first to show.
func (s *search[S]) recordHits(c child[S]) {
	for _, kind := range c.Hits {
		isKnown := slices.ContainsFunc(s.found, func(f ShortestSchedule[S]) bool { return f.Kind == kind })
		if isKnown || !slices.Contains(s.goal.Kinds, kind) || !s.goal.All && len(s.found) > 0 {
			continue
		}
		s.found = append(s.found, ShortestSchedule[S]{kind, pathSteps(s.path(c.parent), c.step)})
	}
}
