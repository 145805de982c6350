package bubble

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"lockstep/internal/explore/bubble/server"
	"lockstep/internal/explore/fault"
	"lockstep/internal/trace"
)

// Horizon is the virtual time without any event after which nothing is expected to happen any more: it is longer than any pause of a
// client.
const Horizon = 10 * time.Minute

// errStale is returned by takeStep if the step cannot happen in the present state.
var errStale = errors.New("the schedule does not fit")

// Limits configures an exploration. All fields but Faults, Depth, StopAtFirst and Key must be set.
type Limits struct {
	Nodes       int           // number of independent Redis nodes
	Faults      fault.Budget  // faults that may happen, and how often each
	Depth       int           // maximum length of a schedule, in steps; 0: no limit
	Runs        int           // maximum number of runs of a search
	Time        time.Duration // maximum real time of a search
	StopAtFirst bool          // end the search at the first violation
	Kinds       []string      // kinds of violations to look for
	Key         string        // Redis key of the lock under test, whose owners are recorded; "": none
}

// Game is the code under test in one run, with the rules by which it is judged.
type Game interface {
	// Calls returns the calls that an actor, which is NotStarted or BetweenCalls, may make next.
	Calls(a *Actor) []Call
	// OnChange is called when the contents of the nodes may have changed. by is the process whose command may have changed them; nil: they
	// may have changed because time has passed.
	OnChange(by *Process)
	// CanPause reports whether a process may pause now. OnPause is called before it pauses.
	CanPause(p *Process) bool
	OnPause(p *Process)
	// AppendState appends the state that Judge depends on, other than the contents of the nodes and the phases of the actors.
	AppendState(b []byte) []byte
	// Judge returns the violations in the state after the last step. It may let time pass, so the run cannot take further steps.
	Judge() ([]Violation, error)
	// Violations returns the violations that the steps so far have shown.
	Violations() []Violation
	// Describe completes the drawing of a step: it sets fields of step, and returns sentences about the actors whose phase has changed.
	Describe(step *trace.Step, moved []*Actor) (says []string)
	// Finish releases the game's resources at the end of a run, after the calls were cancelled and the connections broken.
	Finish()
}

// NewGame creates the game of a run and adds its actors by Run.Add.
type NewGame func(*Run) (Game, error)

// Explorer explores a game by playing one run after another.
type Explorer struct {
	t          *testing.T     // test that a violation fails
	limits     Limits         // limits of each search
	newGame    NewGame        // creates the game of each run
	shared     *server.Shared // data that the servers of all runs have in common
	usedFaults fault.Budget   // largest number of occurrences of each fault in one run
}

// NewExplorer returns an explorer for the duration of a test. Until the test ends, GOMAXPROCS is 1, so that goroutines are scheduled in a
// repeatable order.
func NewExplorer(t *testing.T, limits Limits, newGame NewGame) (*Explorer, error) {
	if testing.Testing() && isParallel(t) {
		return nil, errors.New("the test calls t.Parallel, which is not possible: all runs have to begin in the same state")
	}
	shared, err := server.NewShared(limits.Key)
	if err != nil {
		return nil, err
	}
	t.Cleanup(shared.Close)
	// The resolver creates its channels once. If it created them in the bubble of a run, they would be unusable in the next run.
	_, _ = net.LookupHost("localhost")
	processors := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(processors) })
	const lazyGC = 800 // percent; collecting less often pays, because each run leaves its clients' buffers behind
	gcPercent := debug.SetGCPercent(lazyGC)
	t.Cleanup(func() { debug.SetGCPercent(gcPercent) })
	return &Explorer{t: t, limits: limits, newGame: newGame, shared: shared}, nil
}

// isParallel reports whether a test or one of its parents has called t.Parallel. It uses the fact that t.Setenv panics in such a test, as
// SetGlobalRandom would.
func isParallel(t *testing.T) (parallel bool) {
	defer func() { parallel = recover() != nil }()
	t.Setenv("PATH", os.Getenv("PATH")) // The value stays the same.
	return false
}

// play starts a run in a bubble, passes it to use, and ends it. leaked describes a goroutine that outlived the run; "" if there is none.
func (e *Explorer) play(use func(*Run) error) (leaked string, err error) {
	defer func() {
		if p := recover(); p != nil {
			if e, ok := p.(error); !ok || !strings.Contains(e.Error(), "blocked goroutines remain") {
				panic(p)
			}
			leaked = describeLeak()
		}
	}()
	if err := e.shared.Trim(); err != nil {
		return "", err
	}
	synctest.Test(e.t, func(t *testing.T) {
		growStack()
		if testing.Testing() {
			cryptotest.SetGlobalRandom(t, 0) // Every run draws the same random numbers.
		}
		r := &Run{explorer: e, server: server.New(e.shared, e.limits.Nodes), remainingFaults: e.limits.Faults, start: time.Now()}
		defer r.end()
		defer func() {
			for f, left := range r.remainingFaults {
				e.usedFaults[f] = max(e.usedFaults[f], e.limits.Faults[f]-left)
			}
		}()
		if r.game, err = e.newGame(r); err == nil {
			err = r.Settle()
		}
		if err == nil {
			err = use(r)
		}
	})
	return "", err
}

// Run is one schedule in progress.
type Run struct {
	explorer        *Explorer      // explorer that plays the run
	game            Game           // code under test
	server          *server.Server // simulated Redis
	processes       []*Process     // processes in the order in which they were added
	actors          []*Actor       // actors in the order in which they were added
	remainingFaults fault.Budget   // faults that may still happen
	start           time.Time      // the bubble's time at which the run began
	currentStep     trace.Step     // step in progress, as far as it has been described
	isDrawn         bool           // steps are described for a drawing
	isQuiescent     bool           // when time last passed, Horizon was over without an event
	takenTokens     []string       // steps taken so far
	hashBuffer      []byte         // scratch space of stateHash
}

// Add adds a process with actors of the given names, all of one kind. Open its code afterwards with Open.
func (r *Run) Add(kind int, names ...string) *Process {
	p := &Process{Name: strings.Join(names, ""), Index: len(r.processes), run: r}
	for _, name := range names {
		a := &Actor{Name: name, Index: len(r.actors), Kind: kind, Process: p, run: r}
		p.Actors, r.actors = append(p.Actors, a), append(r.actors, a)
	}
	r.processes = append(r.processes, p)
	return p
}

// Open calls open, which sets up the code of a process. The commands that open sends are executed at once, in the order of HeldConns. They
// are not steps of the schedule.
func (r *Run) Open(p *Process, open func() error) error {
	result := make(chan error, 1)
	go func() { growStack(); result <- open() }()
	timeout := time.NewTimer(Horizon)
	defer timeout.Stop()
	for {
		synctest.Wait()
		select {
		case err := <-result:
			r.server.Arrivals(p.Name) // The commands are the same in every run, so they need not be recorded.
			return err
		default:
		}
		if held := r.server.HeldConns(); len(held) > 0 {
			if _, err := held[0].Answer(); err != nil {
				return err
			}
			continue
		}
		select {
		case err := <-result:
			result <- err
		case <-r.server.Activity():
		case <-timeout.C:
			return fmt.Errorf("it does not return within %v", Horizon)
		}
	}
}

// Actors returns the actors of the run, in the order in which they were added.
func (r *Run) Actors() []*Actor { return r.actors }

// Processes returns the processes of the run, in the order in which they were added.
func (r *Run) Processes() []*Process { return r.processes }

// Process returns the process with a name, which must exist.
func (r *Run) Process(name string) *Process {
	return r.processes[slices.IndexFunc(r.processes, func(p *Process) bool { return p.Name == name })]
}

// Server returns the simulated Redis of the run.
func (r *Run) Server() *server.Server { return r.server }

// Settle waits until all goroutines are blocked, and records the commands that they have sent.
func (r *Run) Settle() error {
	synctest.Wait()
	if err := r.server.Advance(); err != nil {
		return err
	}
	for _, p := range r.processes {
		for _, text := range r.server.Arrivals(p.Name) {
			p.sentCommands++
			r.recordEvent(p, "sent "+text)
			if r.isDrawn {
				r.addDescription(p.Name + " sends " + r.server.Display(text))
			}
		}
	}
	for _, conn := range r.server.HeldConns() {
		if p := r.Process(conn.Process); conn.IsClosedByClient() {
			p.LostMessage = true // The client has closed the connection without waiting for the reply.
		}
	}
	return nil
}

// Now returns the virtual time since the run began.
func (r *Run) Now() time.Duration { return time.Since(r.start) }

// PassTime lets time pass until code under test is active or a key expires. It returns false if neither happens within Horizon.
func (r *Run) PassTime() (bool, error) {
	select {
	case <-r.server.Activity(): // Discard an old signal.
	default:
	}
	timeout, isExpiry := Horizon, false
	if next := r.server.NextExpiry(); next > 0 {
		timeout, isExpiry = next, true
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	moved := true
	select {
	case <-r.server.Activity():
	case <-timer.C:
		moved = isExpiry
	}
	return moved, r.Settle()
}

// end lets all goroutines return: it breaks the connections, cancels the calls, closes the clients, and lets time pass.
func (r *Run) end() {
	r.server.Close()
	for _, a := range r.actors {
		if a.cancel != nil {
			a.cancel()
		}
	}
	synctest.Wait()
	if r.game != nil {
		r.game.Finish()
		synctest.Wait()
	}
	for _, p := range r.processes {
		for _, end := range slices.Backward(p.cleanups) {
			end()
		}
	}
	time.Sleep(Horizon)
	synctest.Wait() // Let timers that fired by then take effect.
}
