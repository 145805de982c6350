package engine

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"lockstep/internal/explore/search"
	"lockstep/internal/language"
)

// Watchdog observes an execution from another goroutine. It detects a task that waits where the engine does not see it, or that never
// yields.
type Watchdog struct {
	current        atomic.Pointer[Execution] // observed execution; nil: none
	lastExecution  *Execution                // execution of the last check
	lastTurn       uint64                    // the execution's turnCount at the last check
	checksThisTurn int                       // consecutive checks during this turn
	lastWaitLines  string                    // lines at which the task waited at the last check; "": it did not wait
}

// checksUntilEndless is the number of checks after which a turn counts as endless. A search checks five times a second, so this is four
// seconds or more: a loaded machine slows the watchdog as well.
const checksUntilEndless = 20

// Follow makes the watchdog observe an execution, instead of the one before.
func (w *Watchdog) Follow(x *Execution) { w.current.Store(x) }

// Diagnose returns an error that says why the execution makes no progress; nil if nothing is known to be wrong. A wait of Go's runtime,
// such as for memory, looks like a wait of the code, but is not seen twice at the same lines.
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
	w.checksThisTurn++
	if w.lastExecution != x || w.lastTurn != turn {
		w.checksThisTurn = 1
	}
	w.lastExecution, w.lastTurn, w.lastWaitLines = x, turn, ""
	if t == nil {
		w.checksThisTurn = 1
		return nil
	}
	stacks := Stacks()
	w.lastWaitLines = t.linesInState(stacks, `\[(sleep|select|chan receive|chan send|sync\.)`, false)
	if w.lastWaitLines != "" && w.lastWaitLines == waited {
		return language.Translate(fmt.Errorf("%w: it waits by itself (%s)", ErrBlind, w.lastWaitLines), "代码自己在等待（%s）", w.lastWaitLines)
	}
	if w.checksThisTurn%checksUntilEndless == 0 {
		return x.busyError(stacks)
	}
	return nil
}

// busyError returns an error that names the line at which the running task keeps control; nil if that is not known.
func (x *Execution) busyError(stacks []string) error {
	if t := x.current.Load(); t != nil {
		if where := t.linesInState(stacks, `\[`, false); where != "" {
			return language.Translate(fmt.Errorf("%w: it keeps running without a command or a pause (%s)", ErrBlind, where),
				"代码一直在运行，既不发命令，也不等待（%s）", where)
		}
	}
	return nil
}
