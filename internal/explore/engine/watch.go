package engine

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"lockstep/internal/explore/search"
)

// Watch looks at executions from another goroutine, for one whose task waits where nobody sees it, or comes to no end.
type Watch struct {
	current atomic.Pointer[Execution]
	last    *Execution // that was looked at
	turn    uint64     // that it had then
	times   int        // looks in a row at this turn
	waited  string     // the lines at which its task waited then, "" if it did not
}

// endless is after how many looks a turn counts as one that has no end: a search looks five times a second, and the watch itself is slow
// where the machine is.
const endless = 20

// Follow has it look at an execution from now on.
func (w *Watch) Follow(x *Execution) { w.current.Store(x) }

// Lost says why the execution does not come back; nil if it is not known to be lost. A wait of Go's own, as for its memory, looks like one
// of the code's, but does not come twice at one place.
func (w *Watch) Lost(why search.Loss) error {
	x := w.current.Load()
	switch {
	case x == nil:
		return nil
	case why == search.Gone:
		return cmp.Or(x.Err(), ErrGone)
	case why == search.Stalled:
		return x.busy(Stacks())
	}
	t, turn, waited := x.current.Load(), x.turns.Load(), w.waited
	if w.times++; w.last != x || w.turn != turn {
		w.times = 1
	}
	if w.last, w.turn, w.waited = x, turn, ""; t == nil {
		w.times = 1
		return nil
	}
	stacks := Stacks()
	if w.waited = t.at(stacks, `\[(sleep|select|chan receive|chan send|sync\.)`, false); w.waited != "" && w.waited == waited {
		return fmt.Errorf("%w: it waits by itself (%s)", ErrBlind, w.waited)
	}
	if w.times%endless == 0 {
		return x.busy(stacks)
	}
	return nil
}

// busy gives an error that names the line at which the task that has the turn keeps it.
func (x *Execution) busy(stacks []string) error {
	if t := x.current.Load(); t != nil {
		if where := t.at(stacks, `\[`, false); where != "" {
			return fmt.Errorf("%w: it runs on and on, without a command or a pause (%s)", ErrBlind, where)
		}
	}
	return nil
}
