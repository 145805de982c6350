package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/history"
	"lockstep/internal/strategy"
)

const exitBroken = 1

// exploreFlags are those of explore, as given.
type exploreFlags struct {
	scenario     explore.Scenario
	faults       string
	property     string
	maxSchedules int
	maxMemory    int
	maxTime      time.Duration
	replay       string
	mermaid      bool
	asJSON       bool
	all          bool
}

func newExplore() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore NAME",
		Short: "Run a lock in every order its commands can take, and show the shortest way it breaks",
		Long: `explore runs the real code of a lock, under the real sale, in every order that its Redis commands
can take, with as many faults as you allow. It shows the shortest schedule that breaks a property,
and how to replay it.

Faults, each with how often it may happen:
` + indent(
			"expiry        time passes a key's expiry while somebody could still move: slow work or network",
			"slow          the same, but only to the next timer",
			"pause         a process stops, before a command or before it has read the reply, and resumes",
			"crash         a process dies, before or after a command took effect",
			"lost-reply    a command takes effect, and nobody learns of it",
			"cancel        a client goes away",
			"lost-wake     a hint that should wake a waiter never comes",
			"node-crash    one of the masters that the lock is on refuses connections from then on",
			"node-hang     one of them does what it is told from then on, but does not answer",
			"node-restart  one of them forgets what it held",
		) + `
Properties:
` + indent(propertyHelp()...) + `
Exit code: 0 everything was explored and nothing breaks, 1 something breaks, 2 a bound was hit
first, or trouble.
With --replay: 0 nothing breaks in that schedule, 1 something does, 2 it does not fit the code.
With --all: 0 everything was explored, 2 a bound was hit first.`,
		Example: `  lockstep explore v0
  lockstep explore v2 --faults expiry=1 --property foreign-release
  lockstep explore v4 --nested 1
  lockstep explore v6 --work 25s --nested 1 --faults crash=1,lost-reply=1
  lockstep explore local --replicas 1
  lockstep explore --all`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeLock,
		Annotations:       map[string]string{noSettings: ""},
		RunE:              func(cmd *cobra.Command, args []string) error { return runExplore(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.scenario.Actors, "actors", 2, "how many sales there are")
	flags.IntVar(&f.scenario.Replicas, "replicas", 0, "how many processes they are in; 0: one each")
	flags.IntVar(&f.scenario.Try, "try", 0, "how many of them try once for the lock, and do not wait")
	flags.IntVar(&f.scenario.Nested, "nested", 0, "how many nested calls take the lock again")
	flags.DurationVar(&f.scenario.Work, "work", 0, "how long a sale works under the lock; its expiry is 10s")
	flags.DurationVar(&f.scenario.Skew, "skew", 0, "how far each process's clock is ahead of the one before")
	flags.IntVar(&f.scenario.Nodes, "nodes", 0, "how many masters the lock is on, if it is on several; 0: 3")
	flags.StringVar(&f.faults, "faults", "",
		"what may go wrong, and how often: expiry=1,crash=1")
	flags.StringVar(&f.property, "property", "", "look at this property alone")
	flags.IntVar(&f.maxSchedules, "max-schedules", 0, "stop after so many schedules (with --all: of each exploration); 0: no limit")
	flags.IntVar(&f.maxMemory, "max-memory", 1500, "stop when the heap holds so many MB; 0: no limit")
	flags.DurationVar(&f.maxTime, "max-time", 0, "stop after so long (with --all: each exploration); 0: no limit")
	flags.StringVar(&f.replay, "replay", "", "run this one schedule, and print the state after each step")
	flags.BoolVar(&f.mermaid, "mermaid", false, "print the counterexample as a Mermaid diagram, and nothing else")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	flags.BoolVar(&f.all, "all", false, "explore every lock with every fault, and print a table")
	complete(cmd, "faults", completeFaults)
	completeWith(cmd, "property", propertyNames()...)
	return cmd
}

func propertyNames() []string {
	var names []string
	for _, p := range explore.Properties() {
		names = append(names, string(p))
	}
	return names
}

func propertyHelp() []string {
	var lines []string
	for _, p := range explore.Properties() {
		lines = append(lines, fmt.Sprintf("%-17s %s", p, p.Means()))
	}
	return lines
}

func indent(lines ...string) string {
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

func runExplore(cmd *cobra.Command, args []string, f exploreFlags) error {
	var err error
	if f.scenario.Faults, err = explore.ParseFaults(f.faults); err != nil {
		return meantFaults(err, f.faults)
	}
	if err := f.check(cmd, args); err != nil {
		return err
	}
	bounds := explore.Bounds{Schedules: f.maxSchedules, Memory: uint64(f.maxMemory) << 20, Time: f.maxTime} //nolint:gosec // checked
	if f.all {
		return exploreAll(cmd, f, bounds)
	}
	strategy, err := findLock(args[0])
	if err != nil {
		return err
	}
	var goal explore.Goal
	if f.property != "" {
		p := explore.Property(f.property)
		if !p.Applies(strategy) {
			return fmt.Errorf("property: %s promises no %s: it keeps no lock in Redis; without --property, explore looks at what it promises",
				strategy.Name, p)
		}
		goal.Properties = []explore.Property{p}
	}
	if cmd.Flags().Changed("replay") {
		return replay(cmd, f, strategy, goal)
	}
	if isTerminal(cmd.ErrOrStderr()) {
		goal.Progress = func(r explore.Result) {
			fmt.Fprintf(cmd.ErrOrStderr(), "\r\033[K%d steps deep, %d schedules, %d states", r.Depth, r.Schedules, r.States)
		}
	}
	result, err := explore.Explore(cmd.Context(), strategy, f.scenario, goal, bounds)
	if goal.Progress != nil {
		fmt.Fprint(cmd.ErrOrStderr(), "\r\033[K")
	}
	if err != nil {
		return err
	}
	return f.show(cmd, result)
}

// meantFaults adds to an error what was meant by the first fault that there is not.
func meantFaults(err error, faults string) error {
	for fault := range strings.SplitSeq(faults, ",") {
		if name, _, _ := strings.Cut(fault, "="); !slices.Contains(explore.FaultNames(), name) {
			return suggest(err, name, explore.FaultNames())
		}
	}
	return err
}

// check says what is wrong with the flags.
func (f exploreFlags) check(cmd *cobra.Command, args []string) error {
	names := propertyNames()
	var foreign []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if cmd.LocalFlags().Lookup(flag.Name) == nil {
			foreign = append(foreign, "--"+flag.Name)
		}
	})
	switch {
	case len(foreign) > 0:
		return fmt.Errorf("%s: explore takes no settings: its clock, its Redis and the expiry (10s) are its own", strings.Join(foreign, ", "))
	case f.all && len(args) > 0:
		return fmt.Errorf("--all explores every lock: leave out %q", args[0])
	case f.all && (f.property != "" || f.mermaid || cmd.Flags().Changed("replay") || f.faults != "" ||
		f.scenario.Try+f.scenario.Nested+f.scenario.Replicas > 0 || f.scenario.Work+f.scenario.Skew > 0):
		return errors.New("--all has scenarios of its own: it takes --actors, --json, and the bounds alone")
	case !f.all && len(args) == 0:
		return fmt.Errorf("explore which lock? There are %s; or --all", strings.Join(evolution.Names(), ", "))
	case f.property != "" && !slices.Contains(names, f.property):
		return suggest(fmt.Errorf("property: there is no %q; there are %s", f.property, strings.Join(names, ", ")), f.property, names)
	case f.maxSchedules < 0:
		return fmt.Errorf("max-schedules: %d is less than none", f.maxSchedules)
	case f.maxMemory < 0 || f.maxMemory > 1<<20:
		return fmt.Errorf("max-memory: %d; it takes 0 to %d MB", f.maxMemory, 1<<20)
	case f.maxTime < 0:
		return fmt.Errorf("max-time: %v is less than none", f.maxTime)
	case f.mermaid && f.asJSON:
		return errors.New("--mermaid and --json are two documents: choose one")
	}
	return f.scenario.Check()
}

// show prints what was found, and gives the exit code.
func (f exploreFlags) show(cmd *cobra.Command, r explore.Result) error {
	out, people := cmd.OutOrStdout(), cmd.OutOrStdout()
	if f.asJSON || f.mermaid {
		people = cmd.ErrOrStderr()
	}
	switch {
	case f.asJSON:
		if err := writeJSON(out, toJSON(r)); err != nil {
			return err
		}
	case f.mermaid && len(r.Broken) > 0:
		fmt.Fprint(out, r.Broken[0].Trace.Mermaid())
	}
	seen := fmt.Sprintf("%d schedules, %d states, at most %d steps", r.Schedules, r.States, r.Depth)
	switch r.Verdict() {
	case explore.Broken:
		e := r.Broken[0]
		fmt.Fprintf(people, "%s breaks %s (%s) in %d steps, and in no fewer.\n", r.Lock, e.Property, e.Property.Means(), e.Length)
		fmt.Fprint(people, "A thick line is a sale that believes it holds the lock; one that is paused is dashed.\n\n")
		if !f.mermaid {
			fmt.Fprintln(people, e.Trace.Sequence(false))
		}
		fmt.Fprintf(people, "Step by step: %s %s --replay %q\n", cmd.CommandPath(), words(r.Lock, r.Scenario.String()), e.Schedule)
	case explore.Holds:
		fmt.Fprintf(people, "%s holds: no counterexample, and nothing is left to explore (%s).\n%s.\n", r.Lock, setting(r.Scenario), seen)
	default:
		fmt.Fprintf(people, "%s: unknown. No counterexample (%s), but the exploration ended early: %s.\n%s.\n",
			r.Lock, setting(r.Scenario), r.Bound, seen)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d schedules in %.1f s, %.0f a second\n", r.Schedules, r.Seconds, float64(r.Schedules)/r.Seconds)
	return exitFor(r.Verdict())
}

func exitFor(v explore.Verdict) error {
	switch v {
	case explore.Holds:
		return nil
	case explore.Broken:
		return exitCode(exitBroken)
	default:
		return exitCode(exitTrouble)
	}
}

// replay runs one schedule.
func replay(cmd *cobra.Command, f exploreFlags, strategy strategy.Strategy, goal explore.Goal) error {
	replayed, err := explore.Replay(strategy, f.scenario, f.replay)
	broken := slices.DeleteFunc(replayed.Broken, func(b explore.Breach) bool {
		return len(goal.Properties) > 0 && !slices.Contains(goal.Properties, b.Property)
	})
	out := cmd.OutOrStdout()
	switch {
	case f.asJSON:
		steps := append([]history.Step{}, replayed.Steps...)
		doc := map[string]any{"lock": strategy.Name, "schedule": f.replay, "steps": steps, "broken": breachesJSON(broken)}
		if err := errors.Join(writeJSON(out, doc), err); err != nil {
			return err
		}
	case f.mermaid:
		fmt.Fprint(out, replayed.Mermaid())
	default:
		fmt.Fprint(out, replayed.Sequence(true))
	}
	if err != nil {
		return err
	}
	people := out
	if f.asJSON || f.mermaid {
		people = cmd.ErrOrStderr()
	}
	for _, b := range broken {
		fmt.Fprintf(people, "  ✗  step %d breaks %s: %s\n", b.Step, b.Property, b.Says)
	}
	if len(broken) > 0 {
		return exitCode(exitBroken)
	}
	fmt.Fprintln(people, "Nothing breaks in this schedule.")
	return nil
}

// setting says in what a lock was explored.
func setting(s explore.Scenario) string {
	flags := s.String()
	if s.Actors == 2 {
		flags = words("2 actors", flags)
	}
	return flags
}

func words(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

// exploredJSON is the document of explore --json.
type exploredJSON struct {
	Lock           string              `json:"lock"`
	Actors         int                 `json:"actors"`
	Replicas       int                 `json:"replicas"`
	Try            int                 `json:"try"`
	Nested         int                 `json:"nested"`
	WorkMillis     history.Millis      `json:"work_ms"`
	SkewMillis     history.Millis      `json:"skew_ms"`
	Faults         map[string]int      `json:"faults"`
	Schedules      int                 `json:"schedules"`
	States         int                 `json:"states"`
	Depth          int                 `json:"depth"`
	Complete       bool                `json:"complete"`
	Bound          string              `json:"bound"`
	Seconds        float64             `json:"seconds"`
	Verdict        explore.Verdict     `json:"verdict"`
	Counterexample *counterexampleJSON `json:"counterexample"`
}

type counterexampleJSON struct {
	Property explore.Property `json:"property"`
	Says     string           `json:"says"`
	Length   int              `json:"length"`
	Schedule string           `json:"schedule"`
	Steps    []history.Step   `json:"steps"`
}

func toJSON(r explore.Result) exploredJSON {
	doc := exploredJSON{
		Lock: r.Lock, Actors: r.Scenario.Actors, Replicas: r.Scenario.Processes(), Try: r.Scenario.Try, Nested: r.Scenario.Nested,
		WorkMillis: history.Millis(r.Scenario.Work), SkewMillis: history.Millis(r.Scenario.Skew), Faults: r.Scenario.Faults.Map(),
		Schedules: r.Schedules, States: r.States, Depth: r.Depth, Complete: r.Complete, Bound: r.Bound, Seconds: r.Seconds,
		Verdict: r.Verdict(),
	}
	if len(r.Broken) > 0 {
		e := r.Broken[0]
		doc.Counterexample = &counterexampleJSON{e.Property, e.Trace.Verdict, e.Length, e.Schedule, e.Trace.Steps}
	}
	return doc
}

func breachesJSON(breaches []explore.Breach) []map[string]any {
	all := []map[string]any{}
	for _, b := range breaches {
		all = append(all, map[string]any{"property": b.Property, "says": b.Says, "step": b.Step})
	}
	return all
}
