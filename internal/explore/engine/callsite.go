package engine

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// CallSite is the place in the code under test where a task waits.
type CallSite struct {
	Task  string   `json:"task"`  // name of the task: A, or A.renewal for one that A has started
	Calls []string `json:"calls"` // lines of the lock and the sale, innermost first, such as internal/lockv2/lock.go:37
}

// recordCallSite records the call stack of a task that is about to yield control, if there is a Recorder.
func (t *Task) recordCallSite() {
	if t.x.Recorder == nil {
		return
	}
	callers := make([]uintptr, 64)
	t.callStack = callers[:runtime.Callers(3, callers)]
}

// CallSites returns the call sites of the actor's tasks that have begun and have not ended.
func (a *Actor) CallSites() []CallSite {
	sites := []CallSite{}
	for _, t := range a.Process.x.tasks {
		if t.actor == a && !t.Ended() && len(t.callStack) > 0 {
			sites = append(sites, CallSite{t.name(), formatCalls(t.callStack)})
		}
	}
	return sites
}

// formatCalls formats the calls that are in a lock or in the sale. Files are named by their package's path, as the compiled-in paths
// depend on the machine.
func formatCalls(callers []uintptr) []string {
	all := []string{}
	for frames := runtime.CallersFrames(callers); ; {
		frame, more := frames.Next()
		directory := frame.Function[:strings.LastIndex(frame.Function, "/")+1]
		pkg, _, _ := strings.Cut(frame.Function[len(directory):], ".")
		file := strings.TrimPrefix(path.Join(directory, pkg, path.Base(frame.File)), modulePrefix())
		if strings.HasPrefix(file, "internal/lock") || strings.HasPrefix(file, "internal/service/") {
			all = append(all, fmt.Sprintf("%s:%d", file, frame.Line))
		}
		if !more {
			return all
		}
	}
}
