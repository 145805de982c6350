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

// The bounds of a search that names none.
const (
	DefaultRuns = 100_000
	DefaultTime = time.Minute
)

// Config says what is explored. The zero Config runs two actors without faults.
type Config struct {
	Actors int           // of System.Actor, 1 to 4; 0: two
	Nodes  int           // servers that know nothing of each other; 0: one
	Faults string        // what may go wrong, and how often, as in "lost-reply=1,crash=1": see Faults
	Allow  []Anomaly     // that are accepted: nobody looks for them
	Depth  int           // look at schedules of up to so many steps, and be content; 0: at every schedule
	Runs   int           // at most; 0: DefaultRuns
	Time   time.Duration // at most; 0: DefaultTime
}

// System is code on Redis, and what is to be true of it.
type System struct {
	// Setup says what Redis has at the beginning of each run. Nil: nothing.
	Setup func(r Redis)

	// Actor opens a process, and returns what its one actor does, once: a request, a job, a message. Its error is what the actor was told.
	// There are Config.Actors of it, which are alike.
	Actor func(p Process) (func(ctx context.Context) error, error)

	// Kinds take the place of Actor if actors are not alike: a producer and two consumers.
	Kinds []Kind

	// Check is asked at the end of each schedule, when all actors have come back and nothing is on its way. Its error fails the test. Nil:
	// only Stuck, Busy and GoroutineLeak are looked for.
	Check func(e End) error

	// Always is asked after every step. Its error fails the test. Nil: nothing has to be true meanwhile.
	Always func(e End) error
}

// Kind is a kind of actors, each in a process of its own.
type Kind struct {
	Name  string // of its actor, in letters; if there are several of them they are called NameA, NameB, …
	N     int    // how many there are; 0: one
	Actor func(p Process) (func(ctx context.Context) error, error)
}

// Process is a process under exploration. What is opened for it, and its clients, are its own.
type Process struct {
	Name string // of its actor: "A"
	of   *bubble.Process
}

// Dial connects to a node in memory: it is the dialer of a client. The address is one that Addr gives; with one node, any will do.
func (p Process) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := p.of.Dial(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	return conn, nil
}

// Addr returns the address of a node, for its client. Nodes count from 0. It is no name: to look up one would lead out of the test.
func (Process) Addr(node int) string { return bubble.Addr(node) }

// Cleanup registers what to do when the run ends: to close the clients. What is registered last is done first.
func (p Process) Cleanup(f func()) { p.of.Cleanup(f) }

// Anomaly is something that goes wrong.
type Anomaly string

// The anomalies.
const (
	CheckFails    Anomaly = "check"  // System.Check has an error
	AlwaysFails   Anomaly = "always" // System.Always has an error
	Stuck         Anomaly = "stuck"  // an actor does not come back within ten minutes, although nothing is on its way
	Busy          Anomaly = "busy"   // a process sends 20 commands or more, one after the other, and no time passes
	GoroutineLeak Anomaly = "goroutine-leak"
)

// Anomalies returns all of them.
func Anomalies() []Anomaly { return []Anomaly{CheckFails, AlwaysFails, Stuck, Busy, GoroutineLeak} }

// Fault is a kind of thing that may go wrong, as Config.Faults names it.
type Fault struct{ Name, Says string }

// Faults returns all of them.
func Faults() (all []Fault) {
	for _, f := range faults() {
		all = append(all, Fault(f))
	}
	return all
}

// faults are those that happen to any code: only who holds a lock is paused, and time passes beside any other by the fault slow.
func faults() []bubble.Fault {
	return slices.DeleteFunc(bubble.Faults(), func(f bubble.Fault) bool { return f.Name == "pause" })
}

// Counterexample is a schedule that shows an anomaly.
type Counterexample struct {
	Anomaly  Anomaly
	Says     string // what happens, in a sentence
	Schedule string // as Replay takes it
}

// Steps returns the length of its schedule.
func (c Counterexample) Steps() int { return len(strings.Fields(c.Schedule)) }

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
	Took       time.Duration
}

// Explore runs a system in every schedule, shortest first, and fails the test at the first anomaly: with the schedule, its drawing, and the
// call that replays it. It fails, too, if it could not look at everything that the Config asks for.
func Explore(t *testing.T, c Config, s System) {
	t.Helper()
	stage, e, err := newStage(t, c, s, true)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	stage.Explore(c.report(e))
}

// report is how this package tells what it has found.
func (c Config) report(e *evidence) bubble.Report {
	return bubble.Report{
		Package: "redistest", NoneFound: "nothing found",
		ReplayCall: func(schedule string) string { return fmt.Sprintf("redistest.Replay(t, %v, %q, system)", c, schedule) },
		Evidence:   func() (vacuous, note string) { return e.vacuous(), "" },
	}
}

// Search does what Explore does, and judges nothing. It looks for each anomaly, until all are found. It fails if the system cannot be
// explored: a command that the simulated Redis does not have, a process that cannot be opened.
func Search(t *testing.T, c Config, s System) (Result, error) {
	t.Helper()
	stage, e, err := newStage(t, c, s, false)
	if err != nil {
		return Result{}, err
	}
	r, err := stage.Search()
	return Result{
		Runs: r.Runs, States: r.States, Depth: r.Depth, Complete: r.Complete, Incomplete: r.Incomplete, Chance: r.RepeatedRuns,
		Missed: r.UnreachedSteps, Never: r.UnusedFaults, Took: r.Took, Found: counterexamples(r.Violations), Vacuous: e.vacuous(),
	}, err
}

// Replay runs one schedule, and fails the test if it shows an anomaly, or if the code cannot do its steps any more: it says which.
func Replay(t *testing.T, c Config, schedule string, s System) {
	t.Helper()
	stage, e, err := newStage(t, c, s, false)
	if err != nil {
		t.Fatalf("redistest: %v", err)
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
func Show(t *testing.T, c Config, schedule string, s System, want Anomaly) (Shown, error) {
	t.Helper()
	stage, _, err := newStage(t, c, s, false)
	if err != nil {
		return Shown{}, err
	}
	shown, err := stage.Reproduce(strings.Fields(schedule), string(want))
	return Shown{counterexamples(shown.Violations), shown.Drawing}, err
}

func counterexamples(found []bubble.Violation) (all []Counterexample) {
	for _, f := range found {
		all = append(all, Counterexample{Anomaly: Anomaly(f.Kind), Says: f.Says, Schedule: f.Schedule})
	}
	return all
}

// newStage makes the stage of a system. The evidence is of all its runs.
func newStage(t *testing.T, c Config, s System, first bool) (*bubble.Explorer, *evidence, error) {
	t.Helper()
	limits, err := c.limits()
	if err != nil {
		return nil, nil, err
	}
	kinds, err := s.kinds(c.Actors)
	if err != nil {
		return nil, nil, err
	}
	limits.StopAtFirst = first
	e := &evidence{}
	stage, err := bubble.NewExplorer(t, limits, func(r *bubble.Run) (bubble.Game, error) { return begin(r, s, kinds, e) })
	return stage, e, err
}

// limits are those that a Config names.
func (c Config) limits() (bubble.Limits, error) {
	budget, err := bubble.ParseFaults(c.Faults, faults())
	switch {
	case err != nil:
	case c.Nodes < 0:
		err = fmt.Errorf("Config.Nodes: %d; it takes 1 or more", c.Nodes)
	case c.Depth < 0 || c.Runs < 0 || c.Time < 0:
		err = errors.New("Config.Depth, Runs and Time are not negative")
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

// mostActors is how many actors a search can still come to an end with.
const mostActors = 4

var letters = regexp.MustCompile(`^[A-Za-z]+$`)

// kinds are those of the actors, with their numbers and names.
func (s System) kinds(actors int) (kinds []Kind, err error) {
	switch {
	case s.Actor == nil && len(s.Kinds) == 0:
		return nil, errors.New("System.Actor: it is nil, and there are no Kinds")
	case s.Actor != nil && len(s.Kinds) > 0:
		return nil, errors.New("System.Actor and System.Kinds: it takes one of them")
	case s.Actor == nil && actors != 0:
		return nil, errors.New("Config.Actors is the number of System.Actor; that of a Kind is its N")
	case s.Actor != nil:
		kinds = []Kind{{N: cmp.Or(actors, 2), Actor: s.Actor}}
	default:
		kinds = slices.Clone(s.Kinds)
	}
	n := 0
	for i, k := range kinds {
		kinds[i].N = cmp.Or(k.N, 1)
		n += kinds[i].N
		switch {
		case s.Actor == nil && !letters.MatchString(k.Name):
			return nil, fmt.Errorf("Kind.Name: %q; it takes letters", k.Name)
		case slices.ContainsFunc(kinds[:i], func(before Kind) bool { return before.Name == k.Name }):
			return nil, fmt.Errorf("Kind.Name: there are two kinds called %s", k.Name)
		case k.Actor == nil:
			return nil, fmt.Errorf("Kind.Actor: that of %s is nil", k.Name)
		case kinds[i].N < 0 || n > mostActors:
			return nil, fmt.Errorf("there are %d actors; it takes 1 to %d", n, mostActors)
		}
	}
	return kinds, nil
}

// String writes it as in Go, without what is not set.
func (c Config) String() string {
	var fields []string
	for _, f := range []struct {
		name string
		is   any
		set  bool
	}{
		{"Actors", c.Actors, c.Actors > 0}, {"Nodes", c.Nodes, c.Nodes > 0}, {"Faults", c.Faults, c.Faults != ""},
		{"Allow", c.Allow, len(c.Allow) > 0},
	} {
		if f.set {
			fields = append(fields, fmt.Sprintf("%s: %#v", f.name, f.is))
		}
	}
	return "redistest.Config{" + strings.Join(fields, ", ") + "}"
}
