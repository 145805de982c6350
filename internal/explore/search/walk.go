package search

import (
	"context"
	"slices"
	"sync"
)

// Edge is one step of a system. Its states have numbers: 0 is the start.
type Edge[S comparable] struct {
	From, To int32 // may be the same
	By       S
	Shows    []string
}

// Walk sees every state of a system, and every step between them, in no order: each is given to see, one at a time. It answers with the
// numbers of the states, that of the start under the zero fingerprint.
//
// Who does not ask for the shortest schedules needs fewer runs: a run goes on from state to state as long as there is a transition that
// nobody has taken.
func Walk[S comparable](
	ctx context.Context, begin func() (System[S], error), see func(Edge[S]), goal Goal[S], bounds Bounds,
) (map[Fingerprint]int32, Result, error) {
	w := &walk[S]{
		search: newSearch(goal, bounds), see: see, states: map[Fingerprint]int32{{}: 0},
		ways: []way[S]{{run: new([]S)}}, open: make([][]S, 1),
	}
	w.changed.L = &w.mu
	if goal.Progress != nil {
		w.tell = func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.result.States = len(w.states)
			w.tally()
			goal.Progress(w.result)
		}
	}
	err := w.do(ctx, begin, func() error { return w.work(w.part) })
	w.mu.Lock() // a worker may still be at work
	defer w.mu.Unlock()
	w.result.States, w.result.Complete = len(w.states), !w.takeBound() && err == nil
	return w.states, w.result, err
}

// walk is a search that needs no order.
type walk[S comparable] struct {
	*search[S]

	see func(Edge[S])

	mu      sync.Mutex
	changed sync.Cond
	begun   bool
	busy    int // workers

	states map[Fingerprint]int32 // the number of each
	ways   []way[S]              // to each
	open   [][]S                 // of each: what nobody has taken yet, by its names
	todo   [][]int32             // those that may have such, by the length of the way
}

// way is a schedule that has led to a state: the first steps of a run.
type way[S comparable] struct {
	run    *[]S // which may be longer by now
	length int
	print  Fingerprint
}

// branch is a state, and what is to be done there.
type branch[S comparable] struct {
	state int32
	isNew bool
	take  *S // by its name; nil: any that is open
}

// part does a worker's part: it takes branches until there are no more.
func (w *walk[S]) part(system System[S]) (err error) {
	for err == nil {
		b, more := w.take()
		if !more {
			break
		}
		err = w.follow(system, b)
		w.leave()
	}
	return err
}

// take waits for a transition that is to be taken, and gives false if none will come. Those with the shortest way come first.
func (w *walk[S]) take() (b branch[S], more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		b, more = w.first()
		if more || w.busy == 0 || w.stopped() {
			break
		}
		w.changed.Wait()
	}
	if more = more && !w.stopped(); more {
		w.busy++
	}
	return b, more
}

// first takes the first branch there is.
func (w *walk[S]) first() (branch[S], bool) {
	if !w.begun {
		w.begun = true
		return branch[S]{state: 0, isNew: true}, true
	}
	for length, states := range w.todo {
		for len(states) > 0 {
			state := states[len(states)-1]
			if open := w.open[state]; len(open) > 0 {
				w.open[state] = open[1:]
				return branch[S]{state: state, take: &open[0]}, true
			}
			states = states[:len(states)-1]
			w.todo[length] = states
		}
	}
	return branch[S]{}, false
}

func (w *walk[S]) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.changed.Broadcast()
}

// follow runs the code to a branch, and goes on from there.
func (w *walk[S]) follow(system System[S], b branch[S]) error {
	w.mu.Lock()
	to := w.ways[b.state]
	path := slices.Clone((*to.run)[:to.length])
	w.mu.Unlock()
	var seen []sighted
	var other error
	err := w.reach(system, path, forwards, to.print, func(run Run[S]) { path, seen, other = w.goOn(run, path, b) })
	if err == nil {
		err = other
	}
	if err == nil && w.goal.Symmetric {
		err = w.symmetry.check(system, path, seen)
	}
	if err != nil {
		err = system.Explain(err, path, false)
	}
	return err
}

// goOn takes the transition of a branch, and then one of each state that it comes to, as long as one is open. It gives the path so far, and
// what it saw of each of its own steps.
func (w *walk[S]) goOn(run Run[S], path []S, b branch[S]) (all []S, saw []sighted, err error) {
	for taken := &path; !w.stopped(); {
		options := run.Transitions()
		if run.Err() != nil {
			break
		}
		names := slices.Clone(options)
		if named, is := run.(Named[S]); is {
			names = named.Names(options)
		}
		var i int
		if i, err = w.choose(options, names, b, len(path)); err != nil || i < 0 {
			break
		}
		t := options[i]
		step := w.look(run, t)
		if !run.Apply(t) {
			break
		}
		w.check(w.schedules.Add(1))
		shown, over := run.Check()
		seen := run.Fingerprint()
		step.to = seen
		saw = append(saw, step)
		w.mu.Lock()
		path = append(path, t)
		w.mu.Unlock()
		if run.Err() != nil {
			break
		}
		to, isNew := w.addEdge(Edge[S]{From: b.state, By: t, Shows: shown}, seen, way[S]{taken, len(path), seen})
		if over || !isNew && len(path) > maxDepth/2 { // others go on from there
			break
		}
		if len(path) > maxDepth {
			w.halt(Hit{Steps, maxDepth})
		}
		b = branch[S]{state: to, isNew: isNew}
	}
	return path, saw, err
}

// choose says which of the options a run is to take, -1 for none. One that came to a known state by a way of its own knows the options by
// their names alone.
func (w *walk[S]) choose(options, names []S, b branch[S], length int) (int, error) {
	if names == nil {
		if names = slices.Clone(options); !b.isNew && b.take == nil {
			return -1, nil
		}
	}
	if b.take != nil {
		i := slices.Index(names, *b.take)
		if i < 0 {
			return i, ErrUnrepeatable
		}
		return i, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.isNew {
		w.opens(b.state, names, length)
	}
	open := w.open[b.state]
	at := slices.IndexFunc(open, func(name S) bool { return slices.Contains(names, name) })
	if at < 0 {
		return -1, nil
	}
	i := slices.Index(names, open[at])
	w.open[b.state] = slices.Delete(slices.Clone(open), at, at+1)
	return i, nil
}

// opens takes down what there is to take at a new state, and how long the way there is.
func (w *walk[S]) opens(state int32, names []S, length int) {
	w.open[state] = names
	for len(w.todo) <= length {
		w.todo = append(w.todo, nil)
	}
	w.todo[length] = append(w.todo[length], state)
	w.changed.Signal()
}

// addEdge takes down a step, and the state that it leads to, by this way.
func (w *walk[S]) addEdge(e Edge[S], seen Fingerprint, by way[S]) (to int32, isNew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	to, known := w.states[seen]
	if !known {
		to = int32(len(w.ways)) //nolint:gosec // memory ends before int32 does
		w.states[seen] = to
		w.ways = append(w.ways, by)
		w.open = append(w.open, nil)
	}
	e.To = to
	w.see(e)
	return to, !known
}
