package redistest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
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

// Config configures a search. The zero Config runs two actors without faults.
type Config struct {
	Actors int           // number of actors that run System.Actor, 1 to 4 (default 2); must be 0 with System.Kinds
	Nodes  int           // number of independent Redis servers (default 1)
	Faults string        // faults that may occur, and how often at most: "lost-reply=1,crash=1"; see Faults
	Allow  []Anomaly     // anomalies to ignore
	Depth  int           // maximum length of a schedule, in steps (default: no limit)
	Runs   int           // maximum number of runs (default DefaultRuns)
	Time   time.Duration // maximum duration of the search (default DefaultTime)
}

// System is the code under test, and the rules that it must obey. Either Actor or Kinds is required. The other fields may be nil.
type System struct {
	// Setup fills Redis, which is empty, at the beginning of each run.
	Setup func(r Redis)

	// Actor opens a process, and returns the function that its actor calls once: one that sends a request, runs a job or handles a message.
	// The error of that function decides the actor's Outcome. The actors are interchangeable.
	Actor func(p Process) (func(ctx context.Context) error, error)

	// Kinds replaces Actor if the actors differ, such as a producer and two consumers.
	Kinds []Kind

	// Check is called at the end of each schedule, when all actors have returned or crashed and no message is in flight. An error that it
	// returns is the anomaly CheckFails.
	Check func(e End) error

	// Always is called after every step. An error that it returns is the anomaly AlwaysFails.
	Always func(e End) error
}

// Kind is a group of interchangeable actors, each in a process of its own.
type Kind struct {
	Name string // name in ASCII letters; if N is above 1, the actors are called NameA, NameB, …
	N    int    // number of actors (default 1)

	// Actor opens the process of one actor, as System.Actor does.
	Actor func(p Process) (func(ctx context.Context) error, error)
}

// Process is a simulated process with one actor. No other process may use its clients.
type Process struct {
	Name    string          // name of the process's actor, such as "A"
	process *bubble.Process // process of the explorer
}

// Dial connects to a node in memory. It is the dialer for the client under test. The address is one that Addr has returned; if there is
// only one node, any address will do.
func (p Process) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := p.process.Dial(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	return conn, nil
}

// Addr returns the address of a node, counted from 0. It is an IP address, so that no client looks up a name.
func (Process) Addr(node int) string { return bubble.Addr(node) }

// Cleanup registers a function to be called at the end of the run, such as one that closes a client. Functions are called in reverse order.
func (p Process) Cleanup(f func()) { p.process.Cleanup(f) }

// Anomaly is the name of a way in which a system fails.
type Anomaly string

// The anomalies that a search looks for.
const (
	CheckFails    Anomaly = "check"          // System.Check returned an error
	AlwaysFails   Anomaly = "always"         // System.Always returned an error
	Stuck         Anomaly = "stuck"          // an actor does not return within ten minutes, although no message is in flight
	Busy          Anomaly = "busy"           // a process sends 20 commands or more in a row without a pause
	GoroutineLeak Anomaly = "goroutine-leak" // a goroutine of a process outlives the run
)

// Anomalies returns all anomalies.
func Anomalies() []Anomaly { return []Anomaly{CheckFails, AlwaysFails, Stuck, Busy, GoroutineLeak} }

// Fault is a kind of fault.
type Fault struct {
	Name string // name in Config.Faults
	Says string // description of what happens
}

// Faults returns the faults that can be named in Config.Faults.
func Faults() (all []Fault) {
	for _, f := range faults() {
		all = append(all, Fault(f))
	}
	return all
}

// faults returns the faults that apply to any code. It leaves out pause, which applies only to the holder of a lock. The fault slow makes
// time pass for other code.
func faults() []bubble.Fault {
	return slices.DeleteFunc(bubble.Faults(), func(f bubble.Fault) bool { return f.Name == "pause" })
}

// Counterexample is a schedule that leads to an anomaly.
type Counterexample struct {
	Anomaly  Anomaly // anomaly to which the schedule leads
	Says     string  // sentence that describes what happens
	Schedule string  // steps, separated by spaces, as Replay takes them
}

// Steps returns the number of steps of the schedule.
func (c Counterexample) Steps() int { return len(strings.Fields(c.Schedule)) }

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
	Took       time.Duration    // real duration of the search
}

// Explore runs the system under every schedule, the shortest first. At the first anomaly it fails the test and prints the schedule, a
// sequence diagram, and the call that replays it. It also fails the test if the search could not cover everything that c asks for.
func Explore(t *testing.T, c Config, s System) {
	t.Helper()
	explorer, e, err := newExplorer(t, c, s, true)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	explorer.Explore(c.report(e))
}

// report returns the texts of this package for the explorer's report to a test.
func (c Config) report(e *evidence) bubble.Report {
	return bubble.Report{
		Package: "redistest", NoneFound: "nothing found",
		ReplayCall: func(schedule string) string { return fmt.Sprintf("redistest.Replay(t, %v, %q, system)", c, schedule) },
		Evidence:   func() (vacuous, note string) { return e.vacuousReason(), "" },
	}
}

// Search explores like Explore, but returns the result instead of failing the test, and goes on until it has a counterexample of each
// anomaly. It returns an error if c or s is invalid or the system cannot be explored: the simulated Redis does not know a command, or a
// process cannot be opened.
func Search(t *testing.T, c Config, s System) (Result, error) {
	t.Helper()
	explorer, e, err := newExplorer(t, c, s, false)
	if err != nil {
		return Result{}, err
	}
	r, err := explorer.Search()
	return Result{
		Runs: r.Runs, States: r.States, Depth: r.Depth, Complete: r.Complete, Incomplete: r.Incomplete, Chance: r.RepeatedRuns,
		Missed: r.UnreachedSteps, Never: r.UnusedFaults, Took: r.Took, Found: counterexamples(r.Violations), Vacuous: e.vacuousReason(),
	}, err
}

// Replay runs one schedule. It fails the test if the schedule leads to an anomaly, or if the code can no longer take one of the steps; the
// message names that step.
func Replay(t *testing.T, c Config, schedule string, s System) {
	t.Helper()
	explorer, e, err := newExplorer(t, c, s, false)
	if err != nil {
		t.Fatalf("redistest: %v", err)
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
func Show(t *testing.T, c Config, schedule string, s System, want Anomaly) (ReplayResult, error) {
	t.Helper()
	explorer, _, err := newExplorer(t, c, s, false)
	if err != nil {
		return ReplayResult{}, err
	}
	shown, err := explorer.Reproduce(strings.Fields(schedule), string(want))
	return ReplayResult{counterexamples(shown.Violations), shown.Drawing}, err
}

// counterexamples converts the violations that the explorer has found.
func counterexamples(found []bubble.Violation) (all []Counterexample) {
	for _, f := range found {
		all = append(all, Counterexample{Anomaly: Anomaly(f.Kind), Says: f.Says, Schedule: f.Schedule})
	}
	return all
}

// newExplorer returns an explorer of the system, and the evidence that all its runs share. With stopAtFirst it stops at the first anomaly.
func newExplorer(t *testing.T, c Config, s System, stopAtFirst bool) (*bubble.Explorer, *evidence, error) {
	t.Helper()
	limits, err := c.limits()
	if err != nil {
		return nil, nil, err
	}
	kinds, err := s.kinds(c.Actors)
	if err != nil {
		return nil, nil, err
	}
	limits.StopAtFirst = stopAtFirst
	e := &evidence{}
	explorer, err := bubble.NewExplorer(t, limits, func(r *bubble.Run) (bubble.Game, error) { return newGame(r, s, kinds, e) })
	return explorer, e, err
}

// limits validates c, and returns it as limits of the explorer, with its defaults filled in.
func (c Config) limits() (bubble.Limits, error) {
	budget, err := bubble.ParseFaults(c.Faults, faults())
	switch {
	case err != nil:
	case c.Nodes < 0:
		err = fmt.Errorf("Config.Nodes: %d; it takes 1 or more", c.Nodes)
	case c.Depth < 0 || c.Runs < 0 || c.Time < 0:
		err = errors.New("Config.Depth, Runs and Time must not be negative")
	}
	for _, a := range c.Allow {
		if !slices.Contains(Anomalies(), a) {
			err = fmt.Errorf("Config.Allow: there is no anomaly %q; there are %v", a, Anomalies())
		}
	}
	l := bubble.Limits{
		Nodes: cmp.Or(c.Nodes, 1), Faults: budget, Depth: c.Depth, Runs: cmp.Or(c.Runs, DefaultRuns), Time: cmp.Or(c.Time, DefaultTime),
	}
	for _, a := range Anomalies() {
		if !slices.Contains(c.Allow, a) {
			l.Kinds = append(l.Kinds, string(a))
		}
	}
	return l, err
}

// maxActors is the largest number of actors. The search grows exponentially with that number, and rarely completes with more than four
// actors.
const maxActors = 4

// kindNamePattern matches the names that a Kind may have.
var kindNamePattern = regexp.MustCompile(`^[A-Za-z]+$`)

// kinds validates the kinds of actors, and returns them with their defaults filled in. It turns Actor into one kind with this number of
// actors; 0 means two.
func (s System) kinds(actors int) (kinds []Kind, err error) {
	switch {
	case s.Actor == nil && len(s.Kinds) == 0:
		return nil, errors.New("System.Actor is nil, and there are no Kinds")
	case s.Actor != nil && len(s.Kinds) > 0:
		return nil, errors.New("System.Actor and System.Kinds are both set; set only one of them")
	case s.Actor == nil && actors != 0:
		return nil, errors.New("Config.Actors is only for System.Actor; set N of each Kind instead")
	case s.Actor != nil:
		kinds = []Kind{{N: cmp.Or(actors, 2), Actor: s.Actor}}
	default:
		kinds = slices.Clone(s.Kinds)
	}
	total := 0
	for i, k := range kinds {
		kinds[i].N = cmp.Or(k.N, 1)
		total += kinds[i].N
		switch {
		case s.Actor == nil && !kindNamePattern.MatchString(k.Name):
			return nil, fmt.Errorf("Kind.Name: %q; it takes letters", k.Name)
		case slices.ContainsFunc(kinds[:i], func(before Kind) bool { return before.Name == k.Name }):
			return nil, fmt.Errorf("Kind.Name: there are two kinds called %s", k.Name)
		case k.Actor == nil:
			return nil, fmt.Errorf("Kind.Actor is nil in kind %s", k.Name)
		case kinds[i].N < 0 || total > maxActors:
			return nil, fmt.Errorf("there are %d actors; the search takes 1 to %d", total, maxActors)
		}
	}
	return kinds, nil
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
		{"Actors", c.Actors, c.Actors > 0}, {"Nodes", c.Nodes, c.Nodes > 0}, {"Faults", c.Faults, c.Faults != ""},
		{"Allow", c.Allow, len(c.Allow) > 0},
	} {
		if f.isSet {
			fields = append(fields, fmt.Sprintf("%s: %#v", f.name, f.value))
		}
	}
	return "redistest.Config{" + strings.Join(fields, ", ") + "}"
}
