package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/language"
)

// ErrBlind is returned when the code under test waits, or acts, where the explorer cannot see it.
var ErrBlind = errors.New("the lock waits where the explorer cannot see it: " +
	"let it wait by lock.Sleep or Clock.Wait, and start goroutines by Clock.Go")

// ErrUnrepeatable is returned when the same schedule led to two different states.
var ErrUnrepeatable = errors.New("the lock does not behave the same in every run: " +
	"let it take the time from its clock, and avoid randomness")

// ErrGoexit is returned when the code under test ended the goroutine that called it.
var ErrGoexit = errors.New("the lock has ended the goroutine that called it, as runtime.Goexit and testing.T.FailNow do")

// ErrPanicked is returned when the code under test panicked. The error's text contains the stack.
var ErrPanicked = errors.New("panicked")

// ErrCommand is returned when the code under test sent a command that the simulated Redis does not have.
var ErrCommand = simredis.ErrCommand

// commandCall is the argument of callingTask for the sending of a command.
const commandCall = "a command"

// callingTask returns the task that runs and so has called the function named what. It fails the execution if no task runs, or if the
// caller is another goroutine: then the code acts where the explorer cannot see it.
func (x *Execution) callingTask(what string) *Task {
	t, chinese := x.current.Load(), strings.Replace(what+" ", commandCall+" ", "命令", 1)
	switch {
	case t == nil:
		lines := callerLines()
		x.Fail(language.Translate(fmt.Errorf("%w: %s was called in New, or by a goroutine of the lock's own%s", ErrBlind, what, lines),
			"%s出现在 New 里，或代码自己启动的 goroutine 里%s", chinese, lines))
	case !t.hasTurn():
		lines := callerLines()
		x.Fail(language.Translate(fmt.Errorf("%w: %s was called by a goroutine of the lock's own%s", ErrBlind, what, lines),
			"%s出现在代码自己启动的 goroutine 里%s", chinese, lines))
		return nil
	}
	return t
}

// hasTurn reports whether the calling goroutine is that of a task. Unless Setup.ChecksCallers is set, it returns true without a check.
func (t *Task) hasTurn() bool { return !t.x.ChecksCallers || isCarrier() }

// checkTimeless returns an error for a context with a deadline in real time.
func checkTimeless(ctx context.Context) error {
	if _, ok := ctx.Deadline(); ok {
		lines := callerLines()
		return language.Translate(fmt.Errorf("%w: a context has a deadline in real time: make it by lock.WithTimeout%s", ErrBlind, lines),
			"有一个 context 的截止时间用的是真实时间，请用 lock.WithTimeout 创建%s", lines)
	}
	return nil
}

// maxCallLines is the number of lines that callerLines returns at most. One line is not enough: the innermost may be in code that locks
// share, such as lock.Sleep.
const maxCallLines = 4

// callerLines returns the lines of the code under test in the current call stack, innermost first, in brackets.
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

// callFrames yields the frames of the calling goroutine, innermost first.
func callFrames(yield func(runtime.Frame) bool) {
	callers := make([]uintptr, 100)
	all := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		if frame, more := all.Next(); !yield(frame) || !more {
			return
		}
	}
}

// panicked fails the execution with the lines at which a task has panicked or ended its goroutine. It has to be called while the stack is
// still there. value is the value of the panic, or ErrCoroutineExited.
func (t *Task) panicked(value any) {
	if value == any(ErrCoroutineExited) {
		lines := callerLines()
		t.x.Fail(language.Translate(fmt.Errorf("%w%s", ErrGoexit, lines),
			"锁的代码终止了调用它的 goroutine：runtime.Goexit 和 testing.T.FailNow 就会这样%s", lines))
		return
	}
	t.x.Fail(panicError(t.name(), value, panicLines()))
}

// Recover turns a panic of code under test into a failure of the execution. It has to be deferred around such code if the code runs outside
// a task; what names the code.
func (x *Execution) Recover(what string) {
	if v := recover(); v != nil {
		x.Fail(panicError(what, v, panicLines()))
	}
}

// panicError returns the error for a panic with a value, in a task or function. The lines are those of panicLines.
func panicError(where string, value any, lines string) error {
	return language.Translate(fmt.Errorf("%s %w: %v%s", where, ErrPanicked, value, lines), "%s：%v%s", where, value, lines)
}

// panicLines returns the calls of the code under test that has panicked, one a line, innermost first. It has to be called by
// the function that recovers.
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
