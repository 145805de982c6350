package bubble

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// Phase is an actor's progress through its calls.
type Phase int

// The phases of an actor.
const (
	NotStarted   Phase = iota // no call made yet
	Calling                   // a call is in progress
	BetweenCalls              // the last call has succeeded, and another may follow
	Done                      // no further call: the last one has ended or failed, or the process has crashed
)

// Call is a call of the code under test that an actor can make.
type Call struct {
	Name       string                      // name in schedules: "Lock"
	Do         func(context.Context) error // makes the call; it runs in a goroutine of its own
	Last       bool                        // the actor is Done after the call; a failed call always makes it Done
	Cancelable bool                        // the fault cancel may cancel the call's context
}

// Actor makes calls, one after another.
type Actor struct {
	Name    string
	Index   int // position among the actors of the run
	Kind    int // actors of one kind are interchangeable, so they start in the order of their names
	Process *Process

	run         *Run       // run of which the actor is a part
	mu          sync.Mutex // guards phase and err
	phase       Phase
	err         error              // error of the last call; nil: success, or none yet
	lastCall    Call               // call in progress, or the last one
	cancel      context.CancelFunc // cancels the context of lastCall; nil: no call yet
	isCancelled bool               // cancel was called for lastCall
}

// Status returns the actor's phase and the error of its last call.
func (a *Actor) Status() (Phase, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.phase, a.err
}

// IsIn reports whether the actor is in a phase.
func (a *Actor) IsIn(s Phase) bool {
	now, _ := a.Status()
	return now == s
}

// IsCancelled reports whether the context of the actor's call has been cancelled.
func (a *Actor) IsCancelled() bool { return a.isCancelled }

// Started reports whether the actor has made a call.
func (a *Actor) Started() bool { return !a.IsIn(NotStarted) }

// Finished reports whether the actor is done.
func (a *Actor) Finished() bool { return a.IsIn(Done) }

// Err returns the error of the actor's last call.
func (a *Actor) Err() error { _, err := a.Status(); return err }

// Paused reports whether the actor's process is paused.
func (a *Actor) Paused() bool { return a.Process.Paused }

// Dead reports whether the actor's process has crashed.
func (a *Actor) Dead() bool { return a.Process.Crashed }

// setPhase sets the actor's phase and error, unless its process has crashed: a crash makes both final.
func (a *Actor) setPhase(s Phase, err error) {
	a.mu.Lock()
	crashed := a.Process.Crashed
	if !crashed {
		a.phase, a.err = s, err
	}
	a.mu.Unlock()
	if !crashed {
		a.run.server.SignalActivity()
	}
}

// Start makes a call in the background.
func (a *Actor) Start(call Call) {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel, a.lastCall, a.isCancelled = cancel, call, false
	a.setPhase(Calling, nil)
	a.Go(func() {
		growStack()
		err := call.Do(ctx)
		if err != nil || call.Last {
			a.setPhase(Done, err)
		} else {
			a.setPhase(BetweenCalls, nil)
		}
	})
}

// Go runs a function of the code under test in a new goroutine. If the function panics, the message includes the schedule.
func (a *Actor) Go(f func()) {
	go func() {
		defer a.addScheduleToPanic()
		f()
	}()
}

// addScheduleToPanic adds to a panic the schedule that led to it, and panics again.
func (a *Actor) addScheduleToPanic() {
	if p := recover(); p != nil {
		panic(fmt.Sprintf("%v [%s panics in the schedule %q]", p, a.Name, strings.Join(a.run.takenTokens, " ")))
	}
}

// growStack makes the runtime enlarge the goroutine's stack at once. The calls in a client are deeply nested, and to grow the stack step by
// step would take a tenth of a search's time.
//
//go:noinline
func growStack() {
	var stack [12 << 10]byte
	runtime.KeepAlive(&stack)
}
