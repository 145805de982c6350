package search

import (
	"slices"
	"sync"
)

// To reach a state takes as many steps as its schedule has. So a run that has come to a new state goes on, and what comes of a step there
// is kept until the search takes that step. This changes neither the order of the search nor what it finds.

// outcome is what one of the steps after a node led to.
type outcome[S comparable] struct {
	index, options int // of the step, and how many there are
	step           S
	seen           sighted
	child          *child[S] // nil: it was none of its own
}

// horizon knows what runs have gone on to.
type horizon[S comparable] struct {
	mu      sync.Mutex
	claimed map[Fingerprint]struct{} // states that a run has gone on from, and that the search has not come to
	known   map[int32]*outcome[S]    // after the nodes of this level
}

// claim reports whether nobody has gone on from a state.
func (h *horizon[S]) claim(state Fingerprint) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, claimed := h.claimed[state]
	h.claimed[state] = struct{}{}
	return !claimed
}

// step runs the code to a node, takes the step with this index, and may go on from there. It gives nil if there is no such step.
func (s *search[S]) step(system System[S], of int32, path []S, root int32, i int, goesOn bool) (o *outcome[S], err error) {
	further := false
	err = s.reach(system, path, root, s.nodes[of].print, func(run Run[S]) {
		o = s.take(run, i)
		for last := o; goesOn && last != nil && s.isToGoOn(run, last.child); further = true {
			c := last.child
			next := max(slices.Index(run.Transitions(), last.step), 0) // who has just moved: others in between would lead elsewhere
			if last = s.take(run, next); run.Err() == nil {
				c.ahead = last
			}
		}
	})
	if err != nil && further { // of what the search may never come to
		return s.step(system, of, path, root, i, false)
	}
	return o, err
}

// isToGoOn reports whether a run is to go on from a child: if all was to be seen, it would be a node.
func (s *search[S]) isToGoOn(run Run[S], c *child[S]) bool {
	if c == nil || c.over || !s.goal.All || run.Err() != nil || s.stopped() {
		return false
	}
	_, known := s.visited[c.print]
	return !known && s.ahead.claim(c.print)
}

// take takes the step with this index. It gives nil if there is none.
func (s *search[S]) take(run Run[S], i int) *outcome[S] {
	options := run.Transitions()
	if run.Err() != nil || i >= len(options) {
		return nil
	}
	o := &outcome[S]{index: i, options: len(options), step: options[i]}
	if o.seen = s.look(run, o.step); run.Apply(o.step) {
		shown, over := run.Check()
		o.seen.to = run.Fingerprint()
		o.child = &child[S]{node: node[S]{step: o.step, print: o.seen.to}, shown: shown, over: over}
		if noted, is := run.(Noted); is {
			o.child.note = noted.Note()
		}
	}
	return o
}
