package search

import (
	"context"
	"errors"
	"sync"
	"time"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
)

// Edge is one step of a system. Its states have numbers: 0 is the start.
type Edge struct {
	From, To int32 // may be the same
	By       execution.Transition
	Shows    []anomaly.Found
}

// Walk sees every state of a system, and every step between them, in no order: each is given to see, one at a time. It answers with the
// numbers of the states, that of the start under the zero fingerprint.
//
// Who does not ask for the shortest schedules needs fewer runs: a run that comes to a new state goes on from there, until it comes to one
// that is known. The goal's Progress is called every now and then, and must not wait.
func Walk(
	ctx context.Context, begin func() (System, error), see func(Edge), goal Goal, bounds Bounds,
) (map[execution.Fingerprint]int32, Result, error) {
	w := &walk{
		search: newSearch(goal, bounds), see: see, states: map[execution.Fingerprint]int32{{}: 0},
		todo: []branch{{state: 0, until: 1}}, // how many there are at the start is seen there
	}
	w.changed.L = &w.mu
	err := w.do(ctx, begin, func() error { return w.work(w.part) })
	w.mu.Lock() // a worker may still be at work
	defer w.mu.Unlock()
	switch w.result.States = len(w.states); {
	case w.limits.hit():
		w.result.Bound = w.limits.name().In(w.goal.Language)
	default:
		w.result.Complete = err == nil
	}
	return w.states, w.result, err
}

// walk is a search that needs no order.
type walk struct {
	*search

	see func(Edge)

	mu      sync.Mutex
	changed sync.Cond
	states  map[execution.Fingerprint]int32 // the number of each; nodes have the same
	todo    []branch
	busy    int // workers
	told    time.Time
}

// branch is transitions of a state that are to be taken: from next on, of so many.
type branch struct {
	state       int32
	next, until int
}

// part is what a worker does: it takes branches until there are no more.
func (w *walk) part(worker int, system System) (err error) {
	for err == nil {
		b, more := w.take()
		if !more {
			break
		}
		err = w.follow(worker, system, b)
		w.leave()
	}
	return err
}

// take waits for a transition that is to be taken, and gives false if none will come.
func (w *walk) take() (b branch, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.todo) == 0 && w.busy > 0 && !w.limits.stopped() {
		w.changed.Wait()
	}
	last := len(w.todo) - 1
	if last < 0 || w.limits.stopped() {
		return b, false
	}
	b = w.todo[last]
	if w.todo[last].next++; w.todo[last].next == b.until {
		w.todo = w.todo[:last]
	}
	w.busy++
	return b, true
}

func (w *walk) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.changed.Broadcast()
}

// follow runs the code to a branch, takes its transition, and goes on as long as it comes to new states.
func (w *walk) follow(worker int, system System, b branch) error {
	w.mu.Lock()
	path, _ := w.path(b.state)
	print := w.nodes[b.state].print
	w.mu.Unlock()
	run := system.Begin(false)
	w.watch.follow(worker, run)
	known := len(path)
	err := follow(run, path)
	if err == nil && b.state != 0 && run.Fingerprint() != print {
		err = execution.ErrUnrepeatable
	}
	var prints []execution.Fingerprint
	if err == nil {
		path, prints = w.goOn(run, path, b)
	}
	if n := w.schedules.Load(); n <= inspected || n%rarely == 0 {
		run.Inspect()
	}
	err = errors.Join(run.Err(), err)
	run.Close()
	if err == nil && w.goal.Mirrored {
		err = mirrors(system, path, known, prints)
	}
	return explain(system, err, path, forwards)
}

// goOn takes the transition of a branch, and then the first of each new state. It gives the path so far, and the states on it that it saw.
func (w *walk) goOn(run Run, path []execution.Transition, b branch) ([]execution.Transition, []execution.Fingerprint) {
	var prints []execution.Fingerprint
	for !w.limits.stopped() {
		transitions := run.Transitions()
		if run.Err() != nil || b.next >= len(transitions) {
			break
		}
		if b.until < len(transitions) { // it is new
			w.later(branch{b.state, b.next + 1, len(transitions)})
		}
		t := transitions[b.next]
		if !run.Apply(t) {
			break
		}
		w.limits.look(w.schedules.Add(1))
		found, over := run.Check()
		print := run.Fingerprint()
		path, prints = append(path, t), append(prints, print)
		if run.Err() != nil {
			break
		}
		to, isNew := w.saw(b.state, t, print, found)
		if !isNew || over {
			break
		}
		if len(path) > maxDepth {
			w.limits.halt(tooDeep())
		}
		b = branch{state: to, until: 1}
	}
	return path, prints
}

// later adds a branch for whoever takes it.
func (w *walk) later(b branch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.todo = append(w.todo, b)
	w.changed.Signal()
}

// saw takes down a step, and the state that it leads to.
func (w *walk) saw(from int32, by execution.Transition, print execution.Fingerprint, shows []anomaly.Found) (to int32, isNew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	to, known := w.states[print]
	if !known {
		to = int32(len(w.nodes)) //nolint:gosec // memory ends before int32 does
		w.states[print] = to
		w.nodes = append(w.nodes, node{from, by, print})
	}
	w.see(Edge{from, to, by, shows})
	if w.goal.Progress != nil && !known && to%256 == 0 && time.Since(w.told) > 200*time.Millisecond {
		w.told = time.Now()
		w.result.States = len(w.states)
		w.tally()
		w.goal.Progress(w.result)
	}
	return to, !known
}

// mirrors runs a path from the other start, where it has to lead to the same: to these states, after so many steps.
func mirrors(system System, path []execution.Transition, after int, to []execution.Fingerprint) error {
	run := system.Begin(true)
	defer run.Close()
	if err := follow(run, path[:after]); err != nil {
		return ErrNames
	}
	for i, print := range to {
		if err := follow(run, path[after+i:after+i+1]); err != nil || run.Fingerprint() != print {
			return ErrNames
		}
	}
	return run.Err()
}
