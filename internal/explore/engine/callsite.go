package engine

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Place is where a task is in the code.
type CallSite struct {
	Task  string   `json:"task"`  // A, or, if A has started it, A.renewal
	Calls []string `json:"calls"` // of the lock and the sale, the innermost first: internal/lockv2/lock.go:37
}

// locate takes down where a task is that is about to give its turn back, if somebody wants to read that.
func (t *Task) recordCallSite() {
	if t.x.Recorder == nil {
		return
	}
	callers := make([]uintptr, 64)
	t.callStack = callers[:runtime.Callers(3, callers)]
}

// Places returns where an actor's tasks are: those that have begun, and have not ended.
func (a *Actor) CallSites() []CallSite {
	places := []CallSite{}
	for _, t := range a.Process.x.tasks {
		if t.actor == a && !t.Ended() && len(t.callStack) > 0 {
			places = append(places, CallSite{t.name(), formatCalls(t.callStack)})
		}
	}
	return places
}

// read gives the calls of the code that a sale runs. A package's path names its files, wherever they were compiled.
func formatCalls(callers []uintptr) []string {
	all := []string{}
	for frames := runtime.CallersFrames(callers); ; {
		frame, more := frames.Next()
		of := frame.Function[:strings.LastIndex(frame.Function, "/")+1]
		name, _, _ := strings.Cut(frame.Function[len(of):], ".")
		file := strings.TrimPrefix(path.Join(of, name, path.Base(frame.File)), modulePrefix())
		if strings.HasPrefix(file, "internal/lock") || strings.HasPrefix(file, "internal/service/") {
			all = append(all, fmt.Sprintf("%s:%d", file, frame.Line))
		}
		if !more {
			return all
		}
	}
}
