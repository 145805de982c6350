package engine

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"lockstep/internal/language"
)

// Detection of goroutines that code under test starts without Clock.Go, and of tasks that wait where the engine does not see it. Go offers
// no other way to find them than the stacks of all goroutines.

// Stacks returns the stacks of all goroutines, as a panic prints them.
func Stacks() []string {
	for size := 1 << 16; ; size *= 2 {
		b := make([]byte, size)
		if n := runtime.Stack(b, true); n < size {
			return strings.Split(string(b[:n]), "\n\n")
		}
	}
}

// CheckGoroutines fails the execution if a goroutine still exists that a task has started without Clock.Go. Goroutines that a Pool starts
// by iter.Pull are allowed.
func (x *Execution) CheckGoroutines() {
	for _, stack := range Stacks() {
		_, created, _ := strings.Cut(stack, "\ncreated by ")
		creator := strings.Fields(created) // FUNCTION in goroutine ID FILE:LINE
		if len(creator) < 5 || isNotUnderTest(creator[0]) ||
			strings.HasPrefix(creator[0], "context.") || strings.HasPrefix(creator[0], "iter.Pull") {
			continue
		}
		if slices.ContainsFunc(x.tasks, func(t *Task) bool { return t.coroutine.GoroutineID() == creator[3] }) {
			where := path.Base(creator[4])
			x.Fail(language.Translate(fmt.Errorf("%w: it has started a goroutine of its own (%s)", ErrBlind, where),
				"代码自己启动了一个 goroutine（%s）", where))
			return
		}
	}
}

// linesInState returns the lines at which a task is in a goroutine state that matches, innermost first; "" if it is in another state.
// Unless the task has parked, the result is also "" when it is in the explorer's own code.
func (t *Task) linesInState(stacks []string, state string, parked bool) string {
	header := regexp.MustCompile(`^goroutine ` + t.coroutine.GoroutineID() + ` ` + state)
	i := slices.IndexFunc(stacks, header.MatchString)
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

// explorerPath returns the import path of the explorer's packages.
func explorerPath() string { return path.Dir(reflect.TypeFor[Execution]().PkgPath()) }

// modulePrefix returns the prefix of the import paths of this module.
func modulePrefix() string { return strings.TrimSuffix(explorerPath(), "internal/explore") }

// isInStandardLibrary reports whether a function belongs to Go's standard library.
func isInStandardLibrary(function string) bool {
	first, _, deep := strings.Cut(function, "/")
	return !strings.HasPrefix(function, modulePrefix()) && !strings.HasPrefix(function, "main.") && (!deep || !strings.Contains(first, "."))
}

// isNotUnderTest reports whether a function belongs to the explorer, to the Redis client, or to the simulated Redis. The explorer's own
// tests count as code under test, as they define locks.
func isNotUnderTest(function string) bool {
	if rest, ok := strings.CutPrefix(function, explorerPath()); ok && (rest[0] == '.' || rest[0] == '/') {
		return !strings.Contains(rest, "_test.")
	}
	return strings.Contains(function, "/go-redis/") || strings.Contains(function, "/miniredis/") ||
		strings.Contains(function, "/gopher-lua") || strings.HasPrefix(function, "runtime.")
}
