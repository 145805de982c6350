package engine

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// stray goroutines are those that code under test starts by itself, and those of its tasks that wait where nobody sees it. Go has no
// other way to find them than the stacks of all goroutines.

// Stacks returns those of all goroutines, as a panic would print them.
func Stacks() []string {
	for size := 1 << 16; ; size *= 2 {
		b := make([]byte, size)
		if n := runtime.Stack(b, true); n < size {
			return strings.Split(string(b[:n]), "\n\n")
		}
	}
}

// Inspect fails for a goroutine that a task has started by itself, and that is still there. A pool starts its own by iter.Pull.
func (x *Execution) CheckGoroutines() {
	for _, stack := range Stacks() {
		_, created, _ := strings.Cut(stack, "\ncreated by ")
		by := strings.Fields(created) // FUNCTION in goroutine NUMBER FILE:LINE
		if len(by) < 5 || isNotUnderTest(by[0]) || strings.HasPrefix(by[0], "context.") || strings.HasPrefix(by[0], "iter.Pull") {
			continue
		}
		if slices.ContainsFunc(x.tasks, func(t *Task) bool { return t.coroutine.GoroutineID() == by[3] }) {
			x.Fail(fmt.Errorf("%w: it has started a goroutine of its own (%s)", ErrBlind, path.Base(by[4])))
			return
		}
	}
}

// at gives the lines at which a task is in such a state, the innermost first; "" if the explorer itself is, unless the task has parked.
func (t *Task) linesInState(stacks []string, state string, parked bool) string {
	is := regexp.MustCompile(`^goroutine ` + t.coroutine.GoroutineID() + ` ` + state)
	i := slices.IndexFunc(stacks, is.MatchString)
	if i < 0 {
		return ""
	}
	var all []string
	for _, f := range regexp.MustCompile(`(?m)^(\S+)\(.*\)\n\s+(\S+)`).FindAllStringSubmatch(stacks[i], -1) {
		switch ours := isNotUnderTest(f[1]); {
		case isInStandardLibrary(f[1]), ours && parked && len(all) == 0:
		case ours, len(all) == maxCallLines:
			return strings.Join(all, " < ")
		default:
			all = append(all, path.Base(f[2]))
		}
	}
	return strings.Join(all, " < ")
}

// explorer returns the path of the explorer's packages, whatever the module is called.
func explorerPath() string { return path.Dir(reflect.TypeFor[Execution]().PkgPath()) }

// module returns what the paths of the module's packages begin with.
func modulePrefix() string { return strings.TrimSuffix(explorerPath(), "internal/explore") }

// inLibrary reports whether a function is one of Go's own.
func isInStandardLibrary(function string) bool {
	first, _, deep := strings.Cut(function, "/")
	return !strings.HasPrefix(function, modulePrefix()) && !strings.HasPrefix(function, "main.") && (!deep || !strings.Contains(first, "."))
}

// notUnderTest reports whether a function belongs to the explorer, or to what it has under the code: the client, and Redis. Tests of the
// explorer have locks of their own.
func isNotUnderTest(function string) bool {
	if below, is := strings.CutPrefix(function, explorerPath()); is && (below[0] == '.' || below[0] == '/') {
		return !strings.Contains(below, "_test.")
	}
	return strings.Contains(function, "/go-redis/") || strings.Contains(function, "/miniredis/") ||
		strings.Contains(function, "/gopher-lua") || strings.HasPrefix(function, "runtime.")
}
