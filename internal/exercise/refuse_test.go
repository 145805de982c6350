package exercise_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/exercise"
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Code that reads the real time or starts goroutines behind the explorer's back is refused before it is built, because an exploration might
// not show the flaw, or might crash.
func TestForbiddenCallIsRefusedBeforeBuild(t *testing.T) {
	t.Setenv("PATH", "") // so that nothing can be built
	for _, c := range []struct {
		name, imports, body string
		want                error
		reason, says        string
	}{
		{"the real time", `"time"`, "_ = time.Now()", explore.ErrUnrepeatable, exercise.Unrepeatable, "it calls time.Now (lock.go:8)"},
		{"by another name", `clock "time"`, "_ = clock.Since", explore.ErrUnrepeatable, exercise.Unrepeatable, "it calls time.Since (lock.go:8)"},
		{"a timer", `"time"`, "time.AfterFunc(time.Hour, func() {})", explore.ErrBlind, exercise.Blind, "it calls time.AfterFunc (lock.go:8)"},
		{
			"the end of a context", `"context"`, "context.AfterFunc(context.Background(), func() {})",
			explore.ErrBlind, exercise.Blind, "it calls context.AfterFunc (lock.go:8)",
		},
		{
			"a goroutine that panics at once", `"time"`, `go panic("out of luck")`,
			explore.ErrBlind, exercise.Blind, "it starts a goroutine of its own (lock.go:8)",
		},
		{"a duration", `"time"`, "_ = time.Second.String()", exercise.ErrNoGo, "", ""},
		{"another's Now", `time "example.com/clock"`, "_ = time.Now()", exercise.ErrNoGo, "", ""},
		{"no Go", `"time"`, "func {", exercise.ErrNoGo, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "lock.go")
			text := "package expiry\n\nimport (\n\t" + c.imports + "\n)\n\nfunc wait() {\n\t" + c.body + "\n}\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			e, checks := findExercise(t, "01"), newChecker(t)
			checks.Overlay = map[string]string{e.Dir() + "/lock.go": file}
			o, err := checks.Check(t.Context(), e, e.Dir(), language.English)
			if c.reason == "" {
				if !errors.Is(err, c.want) {
					t.Errorf("got %+v, %v; want it built", o, err)
				}
				return
			}
			if err != nil || o.State != verdict.Failed || o.Reason != c.reason || !strings.HasSuffix(o.Says, ":\n\n"+c.says) {
				t.Errorf("got %+v, %v; want %s, and %s", o, err, c.reason, c.says)
			}
		})
	}
}

// A package variable that all simulated processes would share is refused by name. One that cannot change is allowed.
func TestSharedVariableIsRefused(t *testing.T) {
	t.Setenv("PATH", "") // so that nothing can be built
	for declared, says := range map[string]string{
		"var guard sync.Mutex":                                  "guard is a mutex",
		"var guard = &sync.RWMutex{}":                           "guard is a mutex",
		"var guard = new(sync.Mutex)":                           "guard is a mutex",
		"var (\n\tx = \"\"\n\tseen = map[string]bool{}\n)":      "seen is a map",
		"var seen = make(map[string]bool)":                      "seen is a map",
		"var seen map[string]bool":                              "seen is a map",
		"var seen sync.Map":                                     "seen is a map",
		"var turn = make(chan struct{}, 1)":                     "turn is a channel",
		"var first sync.Once":                                   "first is a sync.Once",
		"var count atomic.Int64":                                "count is an atomic.Int64",
		"var last atomic.Pointer[string]":                       "last is an atomic.Pointer",
		"var count int\n\nfunc add() { count++ }":               "count is a variable that changes",
		"var own = []int{1}\n\nfunc add() { own[0] = 2 }":       "own is a variable that changes",
		"var own struct{ n int }\nfunc add() { own.n = 2 }":     "own is a variable that changes",
		"var script = redis.NewScript(`return 1`)":              "",
		"var _ sync.Locker = (*Locker)(nil)":                    "",
		"var errGone = errors.New(\"gone\")":                    "",
		"var pauses = []int{1, 2, 4}":                           "",
		"var n = 1\n\nfunc add() int { n := n; n++; return n }": "",
	} {
		t.Run(declared, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "lock.go")
			if err := os.WriteFile(file, []byte("package expiry\n\n"+declared+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			e, checks := findExercise(t, "01"), newChecker(t)
			checks.Overlay = map[string]string{e.Dir() + "/lock.go": file}
			o, err := checks.Check(t.Context(), e, e.Dir(), language.English)
			if says == "" {
				if !errors.Is(err, exercise.ErrNoGo) {
					t.Errorf("got %+v, %v; want it built", o, err)
				}
				return
			}
			if err != nil || o.State != verdict.Failed || o.Reason != exercise.Shared || !strings.Contains(o.Says, ":\n\n"+says+" (lock.go:") {
				t.Errorf("got %+v, %v; want %q", o, err, says)
			}
		})
	}
}
