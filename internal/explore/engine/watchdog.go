package engine

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"lockstep/internal/explore/search"
)

// Watch looks at executions from another goroutine, for one whose task waits where nobody sees it, or comes to no end.
type Watchdog struct {
	current        atomic.Pointer[Execution]
	lastExecution  *Execution // that was looked at
	lastTurn       uint64     // that it had then
	checksThisTurn int        // looks in a row at this turn
	lastWaitLines  string     // the lines at which its task waited then, "" if it did not
}

// endless is after how many looks a turn counts as one that has no end: a search looks five times a second, and the watch itself is slow
// where the machine is.
const checksUntilEndless = 20

// Follow has it look at an execution from now on.
func (w *Watchdog) Follow(x *Execution) { w.current.Store(x) }

// Lost says why the execution does not come back; nil if it is not known to be lost. A wait of Go's own, as for its memory, looks like one
// of the code's, but does not come twice at one place.
func (w *Watchdog) Diagnose(why search.CheckReason) error {
	x := w.current.Load()
	switch {
	case x == nil:
		return nil
	case why == search.WorkerExited:
		return cmp.Or(x.Err(), ErrGoexit)
	case why == search.NoProgress:
		return x.busyError(Stacks())
	}
	t, turn, waited := x.current.Load(), x.turnCount.Load(), w.lastWaitLines
	if w.checksThisTurn++; w.lastExecution != x || w.lastTurn != turn {
		w.checksThisTurn = 1
	}
	if w.lastExecution, w.lastTurn, w.lastWaitLines = x, turn, ""; t == nil {
		w.checksThisTurn = 1
		return nil
	}
	stacks := Stacks()
	if w.lastWaitLines = t.linesInState(stacks, `\[(sleep|select|chan receive|chan send|sync\.)`, false); w.lastWaitLines != "" && w.lastWaitLines == waited {
		return fmt.Errorf("%w: it waits by itself (%s)", ErrBlind, w.lastWaitLines)
	}
	if w.checksThisTurn%checksUntilEndless == 0 {
		return x.busyError(stacks)
	}
	return nil
}

// busy gives an error that names the line at which the task that has the turn keeps it.
func (x *Execution) busyError(stacks []string) error {
	if t := x.current.Load(); t != nil {
		if where := t.linesInState(stacks, `\[`, false); where != "" {
			return fmt.Errorf("%w: it runs on and on, without a command or a pause (%s)", ErrBlind, where)
		}
	}
	return nil
}
