package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/history"
	"lockstep/internal/strategy"
)

// maxDepth is the length at which a schedule counts as endless.
const maxDepth = 2000

// ErrBlind means that a routine waits where the explorer cannot see it.
var ErrBlind = errors.New("the lock waits where the explorer cannot see it: " +
	"let it wait by lock.Sleep or Clock.Wait, and start goroutines by Clock.Go")

// ErrUnrepeatable means that the same schedule led to two different states.
var ErrUnrepeatable = errors.New("the lock does not do the same twice: let it take time from its clock, and nothing from chance")

// node is a state, by the schedule that first reached it: its parent's, and one choice.
type node struct {
	parent int32
	choice choice
	print  [2]uint64
}

// Goal says what an exploration is for.
type Goal struct {
	Properties []Property // to look at; none: all that apply
	All        bool       // go on until each was found broken, or everything was seen; otherwise the first ends it
	Progress   func(Result)
}

// The nodes that are no state's child.
const (
	forwards  = 0
	backwards = 1 // actors that start alike start in reverse order
)

// search is breadth first: all schedules of one length before those that are longer.
type search struct {
	strategy strategy.Strategy
	scenario Scenario
	bounds   Bounds
	goal     Goal
	started  time.Time

	nodes     []node
	visited   map[[2]uint64]struct{}
	schedules atomic.Int64
	stop      atomic.Bool
	bound     atomic.Pointer[string] // the one that was hit first
	halted    chan struct{}          // closed then
	abandoned bool                   // a worker does not come back
	result    Result
	arenas    []*arena
}

// Explore runs a strategy in every schedule of a scenario. That it was cut short, by bounds or by ctx, is no error, but makes
// the verdict unknown. It fails with ErrBlind, or when the strategy's code panics or does what cannot be repeated.
func Explore(ctx context.Context, strategy strategy.Strategy, scenario Scenario, goal Goal, bounds Bounds) (Result, error) {
	if err := scenario.CheckFor(strategy); err != nil {
		return Result{}, err
	}
	if len(goal.Properties) == 0 {
		for _, p := range Properties() {
			if p.Applies(strategy) {
				goal.Properties = append(goal.Properties, p)
			}
		}
	}
	s := &search{
		strategy: strategy, scenario: scenario, bounds: bounds, goal: goal, started: time.Now(),
		halted: make(chan struct{}),
		nodes:  []node{{parent: -1}}, visited: map[[2]uint64]struct{}{},
		result: Result{Lock: strategy.Name, Scenario: scenario, States: 1},
	}
	if scenario.Actors > 1 && !bounds.EverySymmetry {
		s.nodes = append(s.nodes, node{parent: -1}) // the start with the names in reverse
	}
	defer context.AfterFunc(ctx, func() { s.halt("interrupted") })()
	if bounds.Time > 0 {
		defer time.AfterFunc(bounds.Time, func() { s.halt(bounds.Time.String()) }).Stop()
	}
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	workers := bounds.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range workers {
		a, err := newArena(strategy, scenario, bounds, seeds)
		if err != nil {
			return Result{}, err
		}
		defer func() {
			if !s.abandoned {
				a.close()
			}
		}()
		s.arenas = append(s.arenas, a)
	}
	err := s.run()
	s.tally()
	return s.result, err
}

func (s *search) run() error {
	level := []int32{forwards, backwards}[:len(s.nodes)]
	for len(level) > 0 {
		children, err := s.expand(level)
		if err != nil {
			return err
		}
		if s.stop.Load() {
			s.result.Bound = *s.bound.Load()
			return nil
		}
		level = level[:0]
		for _, child := range slices.Concat(children...) {
			s.found(child)
			if _, known := s.visited[child.print]; known && !s.bounds.EveryState {
				continue
			}
			s.visited[child.print] = struct{}{}
			s.result.States++
			if child.last {
				continue
			}
			level = append(level, int32(len(s.nodes))) //nolint:gosec // memory ends before int32 does
			s.nodes = append(s.nodes, child.node)
		}
		if s.done() {
			return nil
		}
		if len(level) > 0 {
			s.result.Depth++
		}
		if s.result.Depth > maxDepth {
			s.result.Bound = fmt.Sprintf("%d steps", maxDepth)
			return nil
		}
		if s.goal.Progress != nil {
			s.tally()
			s.goal.Progress(s.result)
		}
	}
	s.result.Complete = true
	return nil
}

// done reports whether what was found is enough.
func (s *search) done() bool {
	if s.goal.All {
		return len(s.result.Broken) == len(s.goal.Properties)
	}
	return len(s.result.Broken) > 0
}

func (s *search) tally() {
	s.result.Schedules = int(s.schedules.Load())
	s.result.Seconds = time.Since(s.started).Seconds()
}

// child is what one more step led to.
type child struct {
	node
	breaches []breach
	last     bool // nothing can follow
}

// expand takes every choice that there is after each of these nodes. The answer has their order.
func (s *search) expand(level []int32) ([][]child, error) {
	children := make([][]child, len(level))
	failed := make([]error, len(s.arenas))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i, a := range s.arenas {
		wg.Go(func() {
			for failed[i] == nil && !s.stop.Load() {
				n := int(next.Add(1)) - 1
				if n >= len(level) {
					return
				}
				children[n], failed[i] = s.children(a, level[n])
			}
			if failed[i] != nil {
				s.stop.Store(true)
			}
		})
	}
	if !s.wait(&wg) {
		s.abandoned = true
		if s.bound.Load() != nil {
			return nil, nil
		}
		return nil, ErrBlind
	}
	return children, errors.Join(failed...)
}

// wait waits for the workers. It reports false when none gets on any more.
func (s *search) wait(wg *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	ticker := time.NewTicker(cmp.Or(s.bounds.Patience, 20*time.Second))
	defer ticker.Stop()
	halted := s.halted
	for before := int64(-1); ; {
		select {
		case <-done:
			return true
		case <-halted:
			halted = nil
			ticker.Reset(time.Second) // to end the schedules that run
			before = -1
		case <-ticker.C:
			now := s.schedules.Load()
			if now == before {
				return false
			}
			before = now
		}
	}
}

// children takes every choice that there is after a node.
func (s *search) children(a *arena, of int32) ([]child, error) {
	path, root := s.path(of)
	var all []child
	for i := 0; ; i++ {
		w := a.newWorld(s.scenario)
		w.backwards = root == backwards
		for _, c := range path {
			w.apply(c)
		}
		if of != root && w.fingerprint() != s.nodes[of].print {
			w.fail(ErrUnrepeatable)
		}
		options := w.choices()
		if i >= len(options) || w.trouble != nil {
			w.close()
			return all, w.wrong(path, root)
		}
		s.look()
		c := options[i]
		last := i == len(options)-1
		w.judge.breaches = nil
		if w.apply(c) {
			s.schedules.Add(1)
			w.judge.look(w)
			all = append(all, child{
				node: node{of, c, w.fingerprint()}, breaches: w.judge.breaches, last: len(w.options) == 0,
			})
		}
		w.close()
		if err := w.wrong(append(path, c), root); err != nil || last || s.stop.Load() {
			return all, err
		}
	}
}

// wrong tells of trouble, with the schedule that led to it.
func (w *world) wrong(path []choice, root int32) error {
	if w.trouble == nil {
		return nil
	}
	return fmt.Errorf("after %q: %w", w.arena.trace(w.scenario, path, root).Schedule(), w.trouble)
}

// path is the schedule to a node, and the root that it begins at.
func (s *search) path(n int32) (path []choice, root int32) {
	for ; s.nodes[n].parent >= 0; n = s.nodes[n].parent {
		path = append(path, s.nodes[n].choice)
	}
	slices.Reverse(path)
	return path, n
}

// found takes down what a child breaks, if nothing shorter did.
func (s *search) found(c child) {
	slices.SortStableFunc(c.breaches, func(a, b breach) int {
		return slices.Index(Properties(), a.property) - slices.Index(Properties(), b.property)
	})
	for _, b := range c.breaches {
		known := slices.ContainsFunc(s.result.Broken, func(e Counterexample) bool { return e.Property == b.property })
		if known || !slices.Contains(s.goal.Properties, b.property) || !s.goal.All && len(s.result.Broken) > 0 {
			continue
		}
		path, root := s.path(c.parent)
		path = append(path, c.choice)
		trace := s.arenas[0].trace(s.scenario, path, root)
		trace.Verdict = b.says
		s.result.Broken = append(s.result.Broken, Counterexample{b.property, len(path), trace.Schedule(), trace})
	}
}

// trace tells a path to people, by walking it once more.
func (a *arena) trace(scenario Scenario, path []choice, root int32) history.Trace {
	w := a.newWorld(scenario)
	defer w.close()
	w.story = &story{}
	w.backwards = root == backwards
	for _, c := range path {
		if !slices.Contains(w.choices(), c) { // code that does not do the same twice
			break
		}
		w.tell(c)
	}
	return w.trace()
}

// halt ends the search for the sake of a bound.
func (s *search) halt(bound string) {
	if s.bound.CompareAndSwap(nil, &bound) {
		close(s.halted)
	}
	s.stop.Store(true)
}

// look sees whether a bound was hit; at the heap every so often.
func (s *search) look() {
	n := s.schedules.Load()
	if s.bounds.Schedules > 0 && n >= int64(s.bounds.Schedules) {
		s.halt(fmt.Sprintf("%d schedules", s.bounds.Schedules))
	}
	if s.bounds.Memory == 0 || n%1024 != 0 {
		return
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64() > s.bounds.Memory {
		s.halt(fmt.Sprintf("%d MB of memory", s.bounds.Memory>>20))
	}
}
