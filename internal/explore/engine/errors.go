package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"lockstep/internal/explore/simredis"
)

// ErrBlind means that the code under test waits, or moves, where the explorer cannot see it.
var ErrBlind = errors.New("the lock waits where the explorer cannot see it: " +
	"let it wait by lock.Sleep or Clock.Wait, and start goroutines by Clock.Go")

// ErrUnrepeatable means that the same schedule led to two different states.
var ErrUnrepeatable = errors.New("the lock does not do the same twice: let it take time from its clock, and nothing from chance")

// ErrGone means that the code under test has ended a goroutine that is not its own.
var ErrGoexit = errors.New("the lock has ended the goroutine that called it, as runtime.Goexit and testing.T.FailNow do")

// ErrPanicked means that the code under test has panicked. The error has the stack.
var ErrPanicked = errors.New("panicked")

// ErrCommand means that the code under test has sent a command that the simulated Redis does not have.
var ErrCommand = simredis.ErrCommand

// running returns the task that has the turn. Without one, or in another goroutine, somebody acts behind the explorer's back.
func (x *Execution) callingTask(what string) *Task {
	t := x.current.Load()
	switch {
	case t == nil:
		x.Fail(fmt.Errorf("%w: %s was called in New, or by a goroutine of its own%s", ErrBlind, what, callerLines()))
	case !t.hasTurn():
		x.Fail(fmt.Errorf("%w: %s was called by a goroutine of its own%s", ErrBlind, what, callerLines()))
		return nil
	}
	return t
}

// hasTurn reports whether the goroutine that asks is that of a task. In executions that are not inspected, it is taken to be.
func (t *Task) hasTurn() bool { return !t.x.ChecksCallers || isCarrier() }

// checkTimeless fails for a context that ends by real time.
func checkTimeless(ctx context.Context) error {
	if _, has := ctx.Deadline(); has {
		return fmt.Errorf("%w: a context has a deadline in real time: make it by lock.WithTimeout%s", ErrBlind, callerLines())
	}
	return nil
}

// lineDepth is how many calls a line names: the innermost may be one that the lock shares with others, as lock.Sleep.
const maxCallLines = 4

// line says which line of the code under test has called, and from where that was called.
func callerLines() string {
	var all []string
	for frame := range callFrames {
		if frame.Function == "" || isInStandardLibrary(frame.Function) || isNotUnderTest(frame.Function) && len(all) == 0 {
			continue
		}
		if isNotUnderTest(frame.Function) || len(all) == maxCallLines {
			break
		}
		all = append(all, fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, " < ") + ")"
}

// frames are the calls that the goroutine is in, the innermost first.
func callFrames(yield func(runtime.Frame) bool) {
	callers := make([]uintptr, 100)
	all := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		if frame, more := all.Next(); !yield(frame) || !more {
			return
		}
	}
}

// panicked says where a task has panicked, or ended its goroutine. It is called while the stack is still there.
func (t *Task) panicked(value any) {
	if value == any(ErrCoroutineExited) {
		t.x.Fail(fmt.Errorf("%w%s", ErrGoexit, callerLines()))
		return
	}
	t.x.Fail(fmt.Errorf("%s %w: %v%s", t.name(), ErrPanicked, value, panicLines()))
}

// Recover is deferred around code under test that no task runs.
func (x *Execution) Recover(what string) {
	if v := recover(); v != nil {
		x.Fail(fmt.Errorf("%s %w: %v%s", what, ErrPanicked, v, panicLines()))
	}
}

// stack says where the code under test has panicked: a line for each of its calls, the innermost first. It is for the function that
// recovers.
func panicLines() (lines string) {
	panicked := false
	for frame := range callFrames {
		switch {
		case strings.HasPrefix(frame.Function, "runtime."):
			panicked = panicked || strings.HasSuffix(frame.Function, "panic")
		case strings.HasPrefix(frame.Function, explorerPath()+"/engine."), strings.HasPrefix(frame.Function, explorerPath()+"."):
			if lines != "" {
				return lines
			}
		case panicked:
			lines += fmt.Sprintf("\n\t%s (%s:%d)", filepath.Base(frame.Function), filepath.Base(frame.File), frame.Line)
		}
	}
	return lines
}
