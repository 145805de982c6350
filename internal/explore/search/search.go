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

// ErrNames means that a schedule leads to another state from the other start.
var ErrNames = errors.New("the two starts differ by more than names")

// ErrUnrepeatable means that the same schedule led to two different states.
var ErrUnrepeatable = errors.New("the same steps led to two different states")

// ErrLost means that a run does not come back, and nobody knows why.
var ErrLost = errors.New("a run does not come back")

// Fingerprint stands for a state, or for a part of one. Two that differ have the same one with a chance of 1 in 2¹²⁸.
type Fingerprint [2]uint64

// Append writes it.
func (f Fingerprint) Append(b []byte) []byte {
	for _, half := range f {
		b = binary.LittleEndian.AppendUint64(b, half)
	}
	return b
}

// Run is one run of a system, whose steps are of type S.
type Run[S comparable] interface {
	Transitions() []S                   // what can happen next, in a fixed order
	Apply(step S) bool                  // lets it happen; false: it turned out to be no step of its own
	Check() (shown []string, over bool) // what the last step has shown, what matters most first, and whether nothing can follow
	Fingerprint() Fingerprint           // tells states apart
	Err() error                         // why the run cannot go on
}

// Noted is a Run of which there is more to see: Goal.Take is told that.
type Noted interface{ Note() any }

// Named is a Run whose steps have names that are theirs in every state with this fingerprint, whatever led to it; nil: they have none. A
// Walk asks for them. Without it a step is its own name.
type Named[S comparable] interface{ Names(of []S) []S }

// Viewed is a Run that says what a step sees of the state, with all names as they are; false: that may be everything. It makes
// Goal.Symmetric cheaper.
type Viewed[S comparable] interface {
	View(step S) (view Fingerprint, has bool)
}

// System is what is searched. One worker uses it at a time.
type System[S comparable] interface {
	// Play begins a run, at one of the two starts that there are, takes the steps of a path, and gives it to f. The run ends after that.
	// It fails if the path cannot be taken, or with the run's Err.
	Play(path []S, backwards bool, f func(Run[S])) error
	// Explain adds to an error the schedule that led to it.
	Explain(err error, path []S, backwards bool) error
	Close()
}

// Watched is a System whose runs may not come back. Lost says where the one is that goes on; nil: it is not known to be lost. It is called
// while that goes on, and so from another goroutine.
type Watched interface{ Lost(why Loss) error }

// Loss is why somebody asks for a run.
type Loss uint8

// The reasons.
const (
	Watching Loss = iota // it is asked every now and then
	Stalled              // there was no step for long
	Gone                 // the run has ended the goroutine of its worker
)

// Goal says what a search is for.
type Goal[S comparable] struct {
	Kinds    []string     // of what is shown, that are looked for
	All      bool         // go on until each was found, or everything was seen; otherwise the first ends it
	Progress func(Result) // called several times a second, and must not wait; may be nil
	OneStart bool         // begin forwards alone: both starts lead to the same states

	// Attempts are how often a run is repeated that chance leads elsewhere, to another state or where a step cannot happen (Apply reports
	// false). Then no path is left to Play. 0: the system leaves nothing to chance.
	Attempts  int
	Symmetric bool // the two starts differ by names alone: the search checks that, and fails with ErrNames

	// Take is told each step that was taken, what there was to note after it, whether the state is new, and whether nothing can follow.
	Take func(step S, note any, isNew, over bool) // may be nil
	// Go is asked after all schedules of one length whether there is a reason not to go on.
	Go func(schedules int) error // may be nil
}

// Found is the shortest schedule that shows something.
type Found[S comparable] struct {
	Kind      string
	Path      []S
	Backwards bool // from this start
}

// Result is what a search has seen.
type Result struct {
	Schedules int // runs of the code from its start, each to a step that no other took
	States    int // that differ
	Depth     int // steps of the longest schedule
	Seconds   float64
	Complete  bool // nothing is left to explore
	Hit       Hit  // what ended it before that

	Interrupted bool // by the end of its context

	Chance int // runs that chance led elsewhere, and that were repeated
	Missed int // steps that no repetition led to again
}

// node is a state, by the schedule that first reached it: its parent's, and one step.
type node[S comparable] struct {
	parent int32
	step   S
	print  Fingerprint
}

// The nodes that are no state's child: the starts.
const (
	forwards  = 0
	backwards = 1
)

type search[S comparable] struct {
	goal    Goal[S]
	bounds  Bounds
	ctx     context.Context //nolint:containedctx // that ends with the search
	halt    context.CancelCauseFunc
	systems []System[S] // of each worker
	started time.Time
	tell    func() // how far it is

	nodes     []node[S]
	visited   map[Fingerprint]struct{}
	schedules atomic.Int64
	repeated  atomic.Int64
	missed    atomic.Int64
	working   chan struct{} // closed when no worker is at a level any more; one may never come back
	watch     *time.Timer   // until the runs are asked for again
	pause     time.Duration // before that
	symmetry  symmetry[S]
	ahead     horizon[S]
	result    Result
	found     []Found[S]
}

// Do searches. It gives the shortest schedule for each kind that was found, in the order in which they were. Each worker has a system of
// its own, made by begin. That a search was cut short, by bounds or by ctx, is no error. It fails when a run fails, or is lost.
func Do[S comparable](ctx context.Context, begin func() (System[S], error), goal Goal[S], bounds Bounds) (Result, []Found[S], error) {
	s := newSearch(goal, bounds)
	s.visited, s.ahead.claimed = map[Fingerprint]struct{}{}, map[Fingerprint]struct{}{}
	if !goal.OneStart && !goal.Symmetric {
		s.nodes = append(s.nodes, node[S]{parent: -1})
	}
	if goal.Progress != nil {
		s.tell = func() { s.tally(); goal.Progress(s.result) }
	}
	err := s.do(ctx, begin, s.run)
	return s.result, s.found, err
}

func newSearch[S comparable](goal Goal[S], bounds Bounds) *search[S] {
	s := &search[S]{
		goal: goal, bounds: bounds, started: time.Now(), nodes: []node[S]{{parent: -1}}, result: Result{States: 1},
		working: make(chan struct{}), symmetry: symmetry[S]{seen: map[Fingerprint]bool{}}, tell: func() {},
		watch: time.NewTimer(first), pause: first,
	}
	close(s.working)
	return s
}

// do makes a system for each worker, and lets run use them.
func (s *search[S]) do(ctx context.Context, begin func() (System[S], error), run func() error) error {
	defer s.limit(ctx)()
	defer s.close()
	defer s.watch.Stop()
	for range cmp.Or(s.bounds.Workers, runtime.GOMAXPROCS(0)) {
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
func (s *search[S]) close() {
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

func (s *search[S]) run() error {
	level := []int32{forwards, backwards}[:len(s.nodes)]
	for len(level) > 0 {
		var next []int32
		for len(level) > 0 { // strays are gone on from at once
			children, err := s.expand(level)
			if err != nil {
				return err
			}
			if s.takeBound() {
				return nil
			}
			level, next = s.adopt(level[:0], next, children)
		}
		level = next
		if s.done() {
			return nil
		}
		if s.goal.Go != nil {
			if err := s.goal.Go(int(s.schedules.Load())); err != nil {
				return err
			}
		}
		if len(level) > 0 {
			s.result.Depth++
		}
		if s.result.Depth > maxDepth {
			s.result.Hit = Hit{Steps, maxDepth}
			return nil
		}
		s.tell()
	}
	s.result.Complete = s.missed.Load() == 0
	return nil
}

// adopt takes down what children show, and adds those to the next level that are new and can be gone on from; strays, to this one.
func (s *search[S]) adopt(level, next []int32, children [][]child[S]) (strays, all []int32) {
	s.ahead.known = map[int32]*outcome[S]{}
	for _, c := range slices.Concat(children...) {
		s.find(c)
		_, known := s.visited[c.print]
		if s.goal.Take != nil {
			s.goal.Take(c.step, c.note, !known, c.over)
		}
		if known && !s.bounds.EveryState {
			continue
		}
		s.visited[c.print] = struct{}{}
		delete(s.ahead.claimed, c.print)
		s.result.States++
		if c.over {
			continue
		}
		if c.ahead != nil {
			s.ahead.known[int32(len(s.nodes))] = c.ahead //nolint:gosec // memory ends before int32 does
		}
		to := &next
		if c.stray {
			to = &level
		}
		*to = append(*to, int32(len(s.nodes))) //nolint:gosec // memory ends before int32 does
		s.nodes = append(s.nodes, c.node)
	}
	return level, next
}

// done reports whether what was found is enough.
func (s *search[S]) done() bool {
	if s.goal.All {
		return len(s.found) == len(s.goal.Kinds)
	}
	return len(s.found) > 0
}

func (s *search[S]) tally() {
	s.result.Schedules = int(s.schedules.Load())
	s.result.Chance, s.result.Missed = int(s.repeated.Load()), int(s.missed.Load())
	s.result.Seconds = time.Since(s.started).Seconds()
}

// path returns the schedule to a node, and the root that it begins at.
func (s *search[S]) path(n int32) (path []S, root int32) {
	for ; s.nodes[n].parent >= 0; n = s.nodes[n].parent {
		path = append(path, s.nodes[n].step)
	}
	slices.Reverse(path)
	return path, n
}

// find takes down what a child shows, if nothing shorter did.
func (s *search[S]) find(c child[S]) {
	for _, kind := range c.shown {
		known := slices.ContainsFunc(s.found, func(f Found[S]) bool { return f.Kind == kind })
		if known || !slices.Contains(s.goal.Kinds, kind) || !s.goal.All && len(s.found) > 0 {
			continue
		}
		path, root := s.path(c.parent)
		s.found = append(s.found, Found[S]{kind, append(path, c.step), root == backwards})
	}
}
