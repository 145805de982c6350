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

// Horizon is how long nothing has to happen before it counts as never: longer than any pause of a client.
const Horizon = 10 * time.Minute

// errStale means that a schedule has a step that cannot happen.
var errStale = errors.New("the schedule does not fit")

// Limits bound what is explored. None of them is zero but Depth.
type Limits struct {
	Nodes       int // servers that know nothing of each other
	Faults      fault.Budget
	Depth       int           // of schedules that are looked at, in steps; 0: all
	Runs        int           // at most
	Time        time.Duration // at most
	StopAtFirst bool          // what is found first ends the search
	Kinds       []string      // of findings that are looked for
	Key         string        // whose changes are attributed to processes; "" if there is none
}

// Game is what is explored, in one run.
type Game interface {
	// Calls returns the calls that an actor may make next, which is Idle or Resting.
	Calls(a *Actor) []Call
	// Changed is told that what the nodes hold may be something else: by a command of a process, or by itself, if that is nil.
	OnChange(by *Process)
	// CanPause reports whether a process may pause now, and Pause is told that it does.
	CanPause(p *Process) bool
	OnPause(p *Process)
	// AppendState appends what Judge looks at, beyond what the nodes hold and where actors stand.
	AppendState(b []byte) []byte
	// Judge says what the last step has shown. It may let time pass to make sure, so nothing can follow it.
	Judge() ([]Violation, error)
	// Seen returns what steps have shown so far, whatever became of it.
	Violations() []Violation
	// Describe adds what is so after a step that is drawn. It returns what there is to say of these actors, who stand elsewhere than before.
	Describe(step *trace.Step, moved []*Actor) (says []string)
	// End comes back when nothing of the run is to go on: calls have been cancelled, connections have ended.
	Finish()
}

// Begin makes the game of a run: it adds the actors, by Run.Add.
type NewGame func(*Run) (Game, error)

// Stage is where one run after the other is played.
type Explorer struct {
	t          *testing.T
	limits     Limits
	newGame    NewGame
	shared     *server.Shared
	usedFaults fault.Budget // how often each fault has happened in a run, at most
}

// NewStage makes a stage for as long as the test runs. Meanwhile there is one processor: its goroutines take turns in a way that repeats.
func NewExplorer(t *testing.T, limits Limits, newGame NewGame) (*Explorer, error) {
	if testing.Testing() && isParallel(t) {
		return nil, errors.New("the test calls t.Parallel; it cannot, as its runs have to begin alike")
	}
	shared, err := server.NewShared(limits.Key)
	if err != nil {
		return nil, err
	}
	t.Cleanup(shared.Close)
	_, _ = net.LookupHost("localhost") // the resolver makes its channels once: made in a run's bubble, the next run could not use them
	processors := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(processors) })
	gcPercent := debug.SetGCPercent(800) // each run leaves its clients' buffers behind
	t.Cleanup(func() { debug.SetGCPercent(gcPercent) })
	return &Explorer{t: t, limits: limits, newGame: newGame, shared: shared}, nil
}

// isParallel reports whether a test, or one above it, has called t.Parallel: then it panics where the environment is set, as it does where
// random numbers are.
func isParallel(t *testing.T) (parallel bool) {
	defer func() { parallel = recover() != nil }()
	t.Setenv("PATH", os.Getenv("PATH")) // to what it is
	return false
}

// play begins a run, and does with it what is to be done. It fails with errStale. Leaked says which goroutine was left when all was over;
// "" for none.
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
			cryptotest.SetGlobalRandom(t, 0) // each run alike
		}
		r := &Run{stage: e, server: server.New(e.shared, e.limits.Nodes), remainingFaults: e.limits.Faults, start: time.Now()}
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

// Run is one schedule as it unfolds.
type Run struct {
	stage           *Explorer
	game            Game
	server          *server.Server
	processes       []*Process
	actors          []*Actor
	remainingFaults fault.Budget
	start           time.Time
	currentStep     trace.Step // that happens, as far as it has been described
	isDrawn         bool       // its words are wanted
	isStill         bool       // nothing happens by itself any more
	takenTokens     []string   // its steps
	hashBuffer      []byte     // for its fingerprint
}

// Add adds a process with actors of these names, all of one kind. What it runs is opened then, for its connections.
func (r *Run) Add(kind int, names ...string) *Process {
	p := &Process{Name: strings.Join(names, ""), Index: len(r.processes), run: r}
	for _, name := range names {
		a := &Actor{Name: name, Index: len(r.actors), Kind: kind, Process: p, run: r}
		p.Actors, r.actors = append(p.Actors, a), append(r.actors, a)
	}
	r.processes = append(r.processes, p)
	return p
}

// Open runs what opens a process. Commands that it sends take effect at once, in the order in which they are held: they are no steps.
func (r *Run) Open(p *Process, open func() error) error {
	opened := make(chan error, 1)
	go func() { growStack(); opened <- open() }()
	timeout := time.NewTimer(Horizon)
	defer timeout.Stop()
	for {
		synctest.Wait()
		select {
		case err := <-opened:
			r.server.Arrivals(p.Name) // which are the same in each run
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
		case err := <-opened:
			opened <- err
		case <-r.server.Activity():
		case <-timeout.C:
			return fmt.Errorf("it takes longer than %v", Horizon)
		}
	}
}

// Actors returns those that were added, in that order.
func (r *Run) Actors() []*Actor { return r.actors }

// Processes returns those that were added, in that order.
func (r *Run) Processes() []*Process { return r.processes }

// Process returns that of a name.
func (r *Run) Process(name string) *Process {
	return r.processes[slices.IndexFunc(r.processes, func(p *Process) bool { return p.Name == name })]
}

// Server is the Redis of the run.
func (r *Run) Server() *server.Server { return r.server }

// Settle waits until everybody waits, and takes down what has happened meanwhile.
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
	for _, l := range r.server.HeldConns() {
		if p := r.Process(l.Process); l.IsClosedByClient() {
			p.LostMessage = true // its client has waited for the reply in vain
		}
	}
	return nil
}

// Now is how long the run has gone on.
func (r *Run) Now() time.Duration { return time.Since(r.start) }

// Pass lets time pass until somebody does something, or a key expires. It reports false if neither ever happens.
func (r *Run) PassTime() (bool, error) {
	select {
	case <-r.server.Activity(): // before
	default:
	}
	wait, expires := Horizon, false
	if next := r.server.NextExpiry(); next > 0 {
		wait, expires = next, true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	moved := true
	select {
	case <-r.server.Activity():
	case <-timer.C:
		moved = expires
	}
	return moved, r.Settle()
}

// end lets everybody come back: calls are cancelled, connections end, time passes.
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
	synctest.Wait() // for what somebody did by then
}
