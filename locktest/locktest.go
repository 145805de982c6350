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

// The default limits of a search.
const (
	DefaultRuns = 100_000     // default of Config.Runs
	DefaultTime = time.Minute // default of Config.Time
)

// defaultActors is the number of actors of a zero Config. Two are enough for most anomalies.
const defaultActors = 2

// Fault is a kind of fault.
type Fault struct {
	Name string // name in Config.Faults
	Says string // description of what happens
}

// Faults returns the faults that can be named in Config.Faults.
func Faults() (all []Fault) {
	for _, f := range bubble.Faults() {
		all = append(all, Fault(f))
	}
	return all
}

// maxActors is the largest number of actors that Config accepts. The search grows exponentially with that number, and rarely completes with
// more than four actors.
const maxActors = 4

// UsualFaults returns values of Config.Faults to begin with: no fault, and then each fault that a lock should tolerate by itself. The other
// faults (late, pause, node-restart) break most locks.
func UsualFaults() []string {
	return []string{"", "slow=1", "lost-reply=1", "lost-request=1", "cancel=1", "crash=1"}
}

// Config configures a search. Only Key is required.
type Config struct {
	Key      string        // Redis key of the lock, the same on each node
	Nodes    int           // number of independent Redis servers (default 1)
	Actors   int           // number of actors, 1 to 4 (default 2); each locks once, and unlocks if it obtained the lock
	Together bool          // whether all actors but the first share one process; otherwise each has its own
	Faults   string        // faults that may occur, and how often at most: "lost-reply=1,pause=1"; see Faults
	Allow    []Anomaly     // anomalies to ignore
	Depth    int           // maximum length of a schedule, in steps (default: no limit)
	Runs     int           // maximum number of runs (default DefaultRuns)
	Time     time.Duration // maximum duration of the search (default DefaultTime)
}

// Process is a simulated process. No other process may use its lock and its clients.
type Process struct {
	Name    string          // names of the process's actors, such as "A" or "BC"
	process *bubble.Process // process of the explorer
}

// Dial connects to a node in memory. It is the dialer for the client under test. The address is one that Addr has returned; if there is
// only one node, any address will do.
func (p Process) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := p.process.Dial(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("locktest: %w", err)
	}
	return conn, nil
}

// Addr returns the address of a node, counted from 0. It is an IP address, so that no client looks up a name.
func (Process) Addr(node int) string { return bubble.Addr(node) }

// Cleanup registers a function to be called at the end of the run, such as one that closes a client. Functions are called in reverse order.
func (p Process) Cleanup(f func()) { p.process.Cleanup(f) }

// Lock is the lock of a process. If it also has a method TryLock with the same signature, each actor may call TryLock instead of Lock. An
// [Adapter] implements Lock by functions.
type Lock interface {
	// Lock obtains the lock, or returns an error. It may wait for the lock, or try once.
	Lock(ctx context.Context) (Held, error)
}

// Held is a lock that an actor holds. It may also have these methods:
//
//   - Valid() bool reports whether the holder may still believe that it holds the lock, by all that the lock has told it.
//   - Context() context.Context returns a context that is canceled once the lock is known to be lost. It is an alternative to Valid.
//   - Token() int64 returns a fencing token, which must be larger than that of the previous holder. A paused holder with a smaller token
//     than another counts as harmless.
type Held interface {
	// Unlock releases the lock.
	Unlock(ctx context.Context) error
}

// Result is the result of a search.
type Result struct {
	Found      []Counterexample // shortest counterexample of each anomaly
	Runs       int              // runs of the code
	States     int              // distinct states reached
	Depth      int              // length, in steps, up to which all schedules were run
	Complete   bool             // whether all schedules were run, whatever their length
	Incomplete string           // why the search ended early; empty if it did not end early
	Chance     int              // runs that were repeated because chance led them to another state
	Missed     int              // steps that no repetition reached again
	Never      []string         // faults of Config.Faults that occurred in no run
	Vacuous    string           // why an empty Found would prove nothing; empty: it would prove something
	Note       string           // why Found may be an artifact of the test; empty: no reason is known
	Took       time.Duration    // real duration of the search
}

// Counterexample is a schedule that leads to an anomaly.
type Counterexample struct {
	Anomaly  Anomaly // anomaly to which the schedule leads
	Says     string  // sentence that describes what happens
	Schedule string  // steps, separated by spaces, as Replay takes them
}

// Steps returns the number of steps of the schedule.
func (c Counterexample) Steps() int { return len(strings.Fields(c.Schedule)) }

// Explore runs the lock under every schedule, the shortest first. At the first anomaly it fails the test and prints the schedule, a
// sequence diagram, and the call that replays it. It also fails the test if the search could not cover everything that c asks for. The
// function open creates the lock of a process; it is called for each process of each run.
func Explore(t *testing.T, c Config, open func(Process) (Lock, error)) {
	t.Helper()
	explorer, e, err := newExplorer(t, c, open, true)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	explorer.Explore(c.report(e))
}

// report returns the texts of this package for the explorer's report to a test.
func (c Config) report(e *evidence) bubble.Report {
	return bubble.Report{
		Package: "locktest", NoneFound: "no anomaly",
		ReplayCall: func(schedule string) string { return fmt.Sprintf("locktest.Replay(t, %v, %q, open)", c, schedule) },
		Evidence:   func() (vacuous, note string) { return e.vacuousReason(c.Key), e.artifactNote() },
	}
}

// Search explores like Explore, but returns the result instead of failing the test, and goes on until it has a counterexample of each
// anomaly. It returns an error if c is invalid or the lock cannot be explored: the simulated Redis does not know a command, or a lock
// cannot be opened.
func Search(t *testing.T, c Config, open func(Process) (Lock, error)) (Result, error) {
	t.Helper()
	explorer, e, err := newExplorer(t, c, open, false)
	if err != nil {
		return Result{}, err
	}
	r, err := explorer.Search()
	return Result{
		Runs: r.Runs, States: r.States, Depth: r.Depth, Complete: r.Complete, Incomplete: r.Incomplete, Chance: r.RepeatedRuns,
		Missed: r.UnreachedSteps, Never: r.UnusedFaults, Took: r.Took, Found: counterexamples(r.Violations),
		Vacuous: e.vacuousReason(c.Key), Note: e.artifactNote(),
	}, err
}

// counterexamples converts the violations that the explorer has found.
func counterexamples(found []bubble.Violation) (all []Counterexample) {
	for _, f := range found {
		all = append(all, Counterexample{Anomaly: Anomaly(f.Kind), Says: f.Says, Schedule: f.Schedule})
	}
	return all
}

// Replay runs one schedule. It fails the test if the schedule leads to an anomaly, or if the code can no longer take one of the steps; the
// message names that step.
func Replay(t *testing.T, c Config, schedule string, open func(Process) (Lock, error)) {
	t.Helper()
	explorer, e, err := newExplorer(t, c, open, false)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	explorer.Replay(c.report(e), schedule)
}

// ReplayResult is the result of Show.
type ReplayResult struct {
	Found   []Counterexample // anomalies that the schedule leads to
	Drawing string           // sequence diagram of the run
}

// Show runs one schedule, and returns the anomalies to which it leads and a sequence diagram. Because a run may depend on chance, it
// repeats the schedule, at most a hundred times, until it leads to want, or to any anomaly if want is empty. It returns an error if the
// code cannot take a step of the schedule.
func Show(t *testing.T, c Config, schedule string, open func(Process) (Lock, error), want Anomaly) (ReplayResult, error) {
	t.Helper()
	explorer, _, err := newExplorer(t, c, open, false)
	if err != nil {
		return ReplayResult{}, err
	}
	shown, err := explorer.Reproduce(strings.Fields(schedule), string(want))
	return ReplayResult{counterexamples(shown.Violations), shown.Drawing}, err
}

// newExplorer returns an explorer of the lock, and the evidence that all its runs share. With stopAtFirst it stops at the first anomaly.
func newExplorer(t *testing.T, c Config, open func(Process) (Lock, error), stopAtFirst bool) (*bubble.Explorer, *evidence, error) {
	t.Helper()
	c, limits, err := c.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	limits.StopAtFirst = stopAtFirst
	e := &evidence{}
	explorer, err := bubble.NewExplorer(t, limits, func(r *bubble.Run) (bubble.Game, error) { return newGame(r, c, open, e) })
	return explorer, e, err
}

// String formats the config as a Go literal without the fields that are zero. It also leaves out Depth, Runs and Time, which a replay
// does not need.
func (c Config) String() string {
	var fields []string
	for _, f := range []struct {
		name  string
		value any
		isSet bool
	}{
		{"Key", c.Key, true}, {"Nodes", c.Nodes, c.Nodes > 0}, {"Actors", c.Actors, c.Actors > 0}, {"Together", true, c.Together},
		{"Faults", c.Faults, c.Faults != ""}, {"Allow", c.Allow, len(c.Allow) > 0},
	} {
		if f.isSet {
			fields = append(fields, fmt.Sprintf("%s: %#v", f.name, f.value))
		}
	}
	return "locktest.Config{" + strings.Join(fields, ", ") + "}"
}

// withDefaults validates c, and returns it with its defaults filled in, and as limits of the explorer.
func (c Config) withDefaults() (Config, bubble.Limits, error) {
	c.Nodes = cmp.Or(c.Nodes, 1)
	c.Actors = cmp.Or(c.Actors, defaultActors)
	c.Runs = cmp.Or(c.Runs, DefaultRuns)
	c.Time = cmp.Or(c.Time, DefaultTime)
	budget, err := bubble.ParseFaults(c.Faults, bubble.Faults())
	switch {
	case err != nil:
	case c.Key == "":
		err = errors.New("Config.Key is empty; set it to the key of the lock in Redis")
	case c.Nodes < 1:
		err = fmt.Errorf("Config.Nodes: %d; it takes 1 or more", c.Nodes)
	case c.Actors < 1 || c.Actors > maxActors:
		err = fmt.Errorf("Config.Actors: %d; it takes 1 to %d", c.Actors, maxActors)
	case c.Depth < 0 || c.Runs < 0 || c.Time < 0:
		err = errors.New("Config.Depth, Runs and Time must not be negative")
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
