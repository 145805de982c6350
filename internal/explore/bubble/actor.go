package bubble

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// Standing is where an actor stands.
type Phase int

// The standings.
const (
	NotStarted   Phase = iota // it has made no call yet
	Calling                   // a call goes on
	BetweenCalls              // a call has succeeded, and another may follow
	Done                      // its last call has ended, or its process has crashed
)

// Call is a call that an actor can make.
type Call struct {
	Name       string                      // as a schedule has it
	Do         func(context.Context) error // runs in a goroutine of its own
	Last       bool                        // the actor is done after it; it is, too, after a call that fails
	Cancelable bool                        // the fault cancel may end its context
}

// Actor makes calls, one after the other.
type Actor struct {
	Name    string
	Index   int // among the actors of its run
	Kind    int // actors of one kind are alike: they begin in the order of their names
	Process *Process

	run         *Run
	mu          sync.Mutex
	phase       Phase
	err         error
	lastCall    Call // that goes on, or was the last
	cancel      context.CancelFunc
	isCancelled bool
}

// Look returns where the actor stands, and the error of its last call.
func (a *Actor) Status() (Phase, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.phase, a.err
}

// Is reports whether the actor stands there.
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

// become says where an actor stands now. One that has crashed stays where it is: what its code does then, nobody sees.
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

// Start makes a call, and comes back at once.
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

// Go calls a function of the code under test in a goroutine of its own, whose panic names the schedule.
func (a *Actor) Go(f func()) {
	go func() {
		defer a.addScheduleToPanic()
		f()
	}()
}

// tellPanic adds to a panic of the code under test the schedule that led to it.
func (a *Actor) addScheduleToPanic() {
	if p := recover(); p != nil {
		panic(fmt.Sprintf("%v [%s panics in the schedule %q]", p, a.Name, strings.Join(a.run.takenTokens, " ")))
	}
}

// growStack gives a goroutine a large stack at once: a client's calls go deep, and to grow piece by piece costs a tenth of a search.
//
//go:noinline
func growStack() {
	var stack [12 << 10]byte
	runtime.KeepAlive(&stack)
}
