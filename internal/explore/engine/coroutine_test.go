package engine_test

import (
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/explore/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newPool returns a pool that is closed when the test ends.
func newPool(t *testing.T) *engine.Pool {
	t.Helper()
	var p engine.Pool
	t.Cleanup(p.Close)
	return &p
}

// startCoroutine returns a coroutine that runs f at its first Resume, and fails the test if f panics.
func startCoroutine(t *testing.T, f func(park func() error)) *engine.Coroutine {
	t.Helper()
	c := &engine.Coroutine{}
	c.Start(newPool(t), func() { f(func() error { return c.Park() }) }, func(v any) { t.Errorf("the coroutine panicked: %v", v) })
	return c
}

// Coroutines run in the order in which they are resumed, and in no other.
func TestCoroutinesRunInOrderOfResume(t *testing.T) {
	var order []string
	actor := func(name string) *engine.Coroutine {
		return startCoroutine(t, func(park func() error) {
			for range 2 {
				order = append(order, name)
				if err := park(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	a, b := actor("A"), actor("B")
	for _, next := range []*engine.Coroutine{b, a, a, b, b, a} {
		next.Resume()
	}
	if want := []string{"B", "A", "A", "B"}; !slices.Equal(order, want) || !a.Ended() || !b.Ended() {
		t.Errorf("order %v, ended %t and %t; want %v, and both ended", order, a.Ended(), b.Ended(), want)
	}
}

func TestKillRunsDeferredFunctions(t *testing.T) {
	var cleaned bool
	c := startCoroutine(t, func(park func() error) {
		defer func() { cleaned = true }()
		if err := park(); !errors.Is(err, engine.ErrKilled) {
			t.Errorf("Park: %v; want ErrKilled", err)
		}
	})
	c.Resume()
	c.Kill()
	if !c.Ended() || !cleaned {
		t.Errorf("ended %t, cleaned up %t; want both", c.Ended(), cleaned)
	}
}

func TestCoroutineDoesNotRunBeforeResume(t *testing.T) {
	c := startCoroutine(t, func(func() error) { t.Error("the coroutine ran; want that it does not") })
	c.Kill()
	if !c.Ended() {
		t.Error("the coroutine has not ended; want it ended")
	}
}

// A function that calls Park forever ends as well.
func TestKillEndsEndlessLoop(t *testing.T) {
	c := startCoroutine(t, func(park func() error) {
		for {
			_ = park()
		}
	})
	c.Resume()
	c.Kill()
	if !c.Ended() {
		t.Error("the coroutine has not ended; want it ended")
	}
}

// A condemned coroutine runs on, without another Resume, until its function returns.
func TestCondemnedCoroutineRunsToItsEnd(t *testing.T) {
	var c engine.Coroutine
	var err error
	c.Start(newPool(t), func() { c.Condemn(); err = c.Park() }, nil)
	c.Resume()
	if !c.Ended() || !errors.Is(err, engine.ErrKilled) {
		t.Errorf("ended %t, Park: %v; want it ended, and ErrKilled", c.Ended(), err)
	}
}

func TestPanicIsPassedToCallback(t *testing.T) {
	var recovered any
	c := &engine.Coroutine{}
	c.Start(newPool(t), func() { panic("out of luck") }, func(v any) { recovered = v })
	c.Resume()
	if recovered != "out of luck" || !c.Ended() {
		t.Errorf("recovered %v, ended %t; want out of luck, and ended", recovered, c.Ended())
	}
}

// GoroutineID is the id of the coroutine's goroutine while it has one, and differs from that of its scheduler.
func TestGoroutineIDIdentifiesCoroutine(t *testing.T) {
	goroutineID := func() string { return strings.Fields(string(debug.Stack()))[1] }
	var own string
	c := startCoroutine(t, func(park func() error) { own = goroutineID(); _ = park() })
	if c.GoroutineID() != "" {
		t.Errorf("GoroutineID = %s before the first Resume; want none", c.GoroutineID())
	}
	c.Resume()
	if own != c.GoroutineID() || own == goroutineID() {
		t.Errorf("the coroutine runs on goroutine %s, GoroutineID = %s; its scheduler runs on %s", own, c.GoroutineID(), goroutineID())
	}
	if c.Kill(); c.GoroutineID() != "" {
		t.Errorf("GoroutineID = %s after its end; want none", c.GoroutineID())
	}
}
