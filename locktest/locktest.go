package locktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/explore/bubble"
)

// The bounds of a search that names none.
const (
	DefaultRuns = 100_000
	DefaultTime = time.Minute
)

// Fault is a kind of thing that may go wrong, as Config.Faults names it.
type Fault struct{ Name, Says string }

// Faults returns all of them.
func Faults() (all []Fault) {
	for _, f := range bubble.Faults() {
		all = append(all, Fault(f))
	}
	return all
}

// UsualFaults returns what to explore a lock with first, as Config.Faults takes it: nothing, and then each fault that a lock has to bear by
// itself. The others, late, pause and node-restart, ask for a fencing token, or for several nodes.
func UsualFaults() []string {
	return []string{"", "slow=1", "lost-reply=1", "lost-request=1", "cancel=1", "crash=1"}
}

// Config says what is explored. Only Key is needed.
type Config struct {
	Key      string        // of the lock in Redis; it has the same on each node
	Nodes    int           // servers that know nothing of each other; 0: one
	Actors   int           // each locks once, and unlocks if it got the lock; 1 to 4, 0: two
	Together bool          // all actors but the first are goroutines of one process; otherwise each has a process of its own
	Faults   string        // what may go wrong, and how often, as in "lost-reply=1,pause=1": see Faults
	Allow    []Anomaly     // that are accepted: nobody looks for them
	Depth    int           // look at schedules of up to so many steps, and be content; 0: at every schedule
	Runs     int           // at most; 0: DefaultRuns
	Time     time.Duration // at most; 0: DefaultTime
}

// Process is a process under exploration. The lock that is opened for it, and its clients, are its own.
type Process struct {
	Name string // the names of its actors: "A", or "BC"
	of   *bubble.Process
}

// Dial connects to a node in memory: it is the dialer of a client. The address is one that Addr gives; with one node, any will do.
func (p Process) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := p.of.Dial(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("locktest: %w", err)
	}
	return conn, nil
}

// Addr returns the address of a node, for its client. Nodes count from 0. It is no name: to look up one would lead out of the test.
func (Process) Addr(node int) string { return bubble.Addr(node) }

// Cleanup registers what to do when the run ends: to close the clients. What is registered last is done first.
func (p Process) Cleanup(f func()) { p.of.Cleanup(f) }

// Lock is the lock of a process. It may have a method TryLock of the same form, which is explored beside Lock. An [Adapter] makes one of
// functions.
type Lock interface {
	// Lock waits for the lock, or tries once: as the lock does. It fails if the lock was not obtained.
	Lock(ctx context.Context) (Held, error)
}

// Held is a lock that was obtained. It may have more methods:
//
//   - Valid() bool reports whether the holder may still believe that it holds the lock, by all that the lock has told it.
//   - Context() context.Context ends when the lock is known to be lost: the same, in another form.
//   - Token() int64 is a fencing token. Each holder must get a larger one; then a paused holder with a smaller one does no harm.
type Held interface {
	Unlock(ctx context.Context) error
}

// Result is what a search found.
type Result struct {
	Found      []Counterexample // the shortest for each anomaly
	Runs       int
	States     int
	Depth      int      // all schedules of so many steps were run
	Complete   bool     // and there are no longer ones
	Incomplete string   // why not
	Chance     int      // runs that chance led elsewhere, and that were repeated
	Missed     int      // choices that no repetition led to again
	Never      []string // faults of Config.Faults that have happened in no run
	Vacuous    string   // why an empty Found says nothing
	Note       string   // what may make what was found untrue
	Took       time.Duration
}

// Counterexample is a schedule that shows an anomaly.
type Counterexample struct {
	Anomaly  Anomaly
	Says     string // what happens, in a sentence
	Schedule string // as Replay takes it
}

// Steps returns the length of its schedule.
func (c Counterexample) Steps() int { return len(strings.Fields(c.Schedule)) }

// Explore runs a lock in every schedule, shortest first, and fails the test at the first anomaly: with the schedule, its drawing, and the
// call that replays it. It fails, too, if it could not look at everything that the Config asks for. Open opens the lock of a process.
func Explore(t *testing.T, c Config, open func(Process) (Lock, error)) {
	t.Helper()
	stage, e, err := newStage(t, c, open, true)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	stage.Explore(c.report(e))
}

// report is how this package tells what it has found.
func (c Config) report(e *evidence) bubble.Report {
	return bubble.Report{
		Package: "locktest", NoneFound: "no anomaly",
		ReplayCall: func(schedule string) string { return fmt.Sprintf("locktest.Replay(t, %v, %q, open)", c, schedule) },
		Evidence:   func() (vacuous, note string) { return e.vacuous(c.Key), e.note() },
	}
}

// Search does what Explore does, and judges nothing. It looks for each anomaly, until all are found. It fails if the lock cannot be
// explored: a command that the simulated Redis does not have, a lock that cannot be opened.
func Search(t *testing.T, c Config, open func(Process) (Lock, error)) (Result, error) {
	t.Helper()
	stage, e, err := newStage(t, c, open, false)
	if err != nil {
		return Result{}, err
	}
	r, err := stage.Search()
	return Result{
		Runs: r.Runs, States: r.States, Depth: r.Depth, Complete: r.Complete, Incomplete: r.Incomplete, Chance: r.RepeatedRuns,
		Missed: r.UnreachedSteps, Never: r.UnusedFaults, Took: r.Took, Found: counterexamples(r.Violations),
		Vacuous: e.vacuous(c.Key), Note: e.note(),
	}, err
}

func counterexamples(found []bubble.Violation) (all []Counterexample) {
	for _, f := range found {
		all = append(all, Counterexample{Anomaly: Anomaly(f.Kind), Says: f.Says, Schedule: f.Schedule})
	}
	return all
}

// Replay runs one schedule, and fails the test if it shows an anomaly, or if the code cannot do its steps any more: it says which.
func Replay(t *testing.T, c Config, schedule string, open func(Process) (Lock, error)) {
	t.Helper()
	stage, e, err := newStage(t, c, open, false)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	stage.Replay(c.report(e), schedule)
}

// Shown is what one schedule has shown.
type Shown struct {
	Found   []Counterexample
	Drawing string // a sequence diagram
}

// Show runs one schedule until it shows an anomaly, or this one, if it is not empty; but at most a hundred times, as chance may lead
// elsewhere. It fails if the schedule has a step that the code cannot do.
func Show(t *testing.T, c Config, schedule string, open func(Process) (Lock, error), want Anomaly) (Shown, error) {
	t.Helper()
	stage, _, err := newStage(t, c, open, false)
	if err != nil {
		return Shown{}, err
	}
	shown, err := stage.Reproduce(strings.Fields(schedule), string(want))
	return Shown{counterexamples(shown.Violations), shown.Drawing}, err
}

// newStage makes the stage of a lock. The evidence is of all its runs.
func newStage(t *testing.T, c Config, open func(Process) (Lock, error), first bool) (*bubble.Explorer, *evidence, error) {
	t.Helper()
	c, limits, err := c.read()
	if err != nil {
		return nil, nil, err
	}
	limits.StopAtFirst = first
	e := &evidence{}
	stage, err := bubble.NewExplorer(t, limits, func(r *bubble.Run) (bubble.Game, error) { return begin(r, c, open, e) })
	return stage, e, err
}

// String writes it as in Go, without what is not set.
func (c Config) String() string {
	var fields []string
	for _, f := range []struct {
		name string
		is   any
		set  bool
	}{
		{"Key", c.Key, true}, {"Nodes", c.Nodes, c.Nodes > 0}, {"Actors", c.Actors, c.Actors > 0}, {"Together", true, c.Together},
		{"Faults", c.Faults, c.Faults != ""}, {"Allow", c.Allow, len(c.Allow) > 0},
	} {
		if f.set {
			fields = append(fields, fmt.Sprintf("%s: %#v", f.name, f.is))
		}
	}
	return "locktest.Config{" + strings.Join(fields, ", ") + "}"
}

// read completes a Config, and gives the limits that it names.
func (c Config) read() (Config, bubble.Limits, error) {
	c.Nodes, c.Actors, c.Runs, c.Time = cmp.Or(c.Nodes, 1), cmp.Or(c.Actors, 2), cmp.Or(c.Runs, DefaultRuns), cmp.Or(c.Time, DefaultTime)
	budget, err := bubble.ParseFaults(c.Faults, bubble.Faults())
	switch {
	case err != nil:
	case c.Key == "":
		err = errors.New("Config.Key: it is empty; it takes the key of the lock in Redis")
	case c.Nodes < 1:
		err = fmt.Errorf("Config.Nodes: %d; it takes 1 or more", c.Nodes)
	case c.Actors < 1 || c.Actors > 4:
		err = fmt.Errorf("Config.Actors: %d; it takes 1 to 4", c.Actors)
	case c.Depth < 0 || c.Runs < 0 || c.Time < 0:
		err = errors.New("Config.Depth, Runs and Time are not negative")
	}
	limits := bubble.Limits{Nodes: c.Nodes, Faults: budget, Depth: c.Depth, Runs: c.Runs, Time: c.Time, Key: c.Key}
	for _, a := range Anomalies() {
		if !slices.Contains(c.Allow, a) {
			limits.Kinds = append(limits.Kinds, string(a))
		}
	}
	for _, a := range c.Allow {
		if !slices.Contains(Anomalies(), a) {
			err = fmt.Errorf("Config.Allow: there is no anomaly %q; there are %v", a, Anomalies())
		}
	}
	return c, limits, err
}
