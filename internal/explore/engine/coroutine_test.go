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

// pool is one that ends with the test.
func newPool(t *testing.T) *engine.Pool {
	t.Helper()
	var p engine.Pool
	t.Cleanup(p.Close)
	return &p
}

func startCoroutine(t *testing.T, f func(park func() error)) *engine.Coroutine {
	t.Helper()
	c := &engine.Coroutine{}
	c.Start(newPool(t), func() { f(func() error { return c.Park() }) }, func(v any) { t.Errorf("it panicked: %v", v) })
	return c
}

// The order is the one in which they are resumed, and no other.
func TestTheSchedulerDecidesTheOrder(t *testing.T) {
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
		t.Errorf("%v, ended %t and %t; want %v, and both ended", order, a.Ended(), b.Ended(), want)
	}
}

func TestKillUnwinds(t *testing.T) {
	var cleaned bool
	c := startCoroutine(t, func(park func() error) {
		defer func() { cleaned = true }()
		if err := park(); !errors.Is(err, engine.ErrKilled) {
			t.Errorf("%v; want ErrKilled", err)
		}
	})
	c.Resume()
	c.Kill()
	if !c.Ended() || !cleaned {
		t.Errorf("ended %t, cleaned up %t; want both", c.Ended(), cleaned)
	}
}

func TestOneThatWasNeverResumedDoesNotRun(t *testing.T) {
	c := startCoroutine(t, func(func() error) { t.Error("it ran") })
	c.Kill()
	if !c.Ended() {
		t.Error("it has not ended")
	}
}

// One that retries for ever ends too.
func TestKillEndsALoop(t *testing.T) {
	c := startCoroutine(t, func(park func() error) {
		for {
			_ = park()
		}
	})
	c.Resume()
	c.Kill()
	if !c.Ended() {
		t.Error("it has not ended")
	}
}

// A condemned one runs to its end in the turn that it has.
func TestCondemnedRunsOn(t *testing.T) {
	var c engine.Coroutine
	var err error
	c.Start(newPool(t), func() { c.Condemn(); err = c.Park() }, nil)
	c.Resume()
	if !c.Ended() || !errors.Is(err, engine.ErrKilled) {
		t.Errorf("ended %t, %v; want it ended, and ErrKilled", c.Ended(), err)
	}
}

func TestAPanicIsTold(t *testing.T) {
	var told any
	c := &engine.Coroutine{}
	c.Start(newPool(t), func() { panic("out of luck") }, func(v any) { told = v })
	c.Resume()
	if told != "out of luck" || !c.Ended() {
		t.Errorf("told %v, ended %t", told, c.Ended())
	}
}

// Its goroutine is known by its number, while it has one: any other has another.
func TestAGoroutineIsKnownByItsNumber(t *testing.T) {
	number := func() string { return strings.Fields(string(debug.Stack()))[1] }
	var own string
	c := startCoroutine(t, func(park func() error) { own = number(); _ = park() })
	if c.GoroutineID() != "" {
		t.Errorf("it has the goroutine %s before it begins", c.GoroutineID())
	}
	c.Resume()
	if own != c.GoroutineID() || own == number() {
		t.Errorf("its goroutine is %s, and is taken for %s; its scheduler's is %s", own, c.GoroutineID(), number())
	}
	if c.Kill(); c.GoroutineID() != "" {
		t.Errorf("it has the goroutine %s after its end", c.GoroutineID())
	}
}
