package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
)

const exitBroken = 1

// usualTime is more than any lock needs with two actors and one fault, on a slow machine too.
const usualTime = 10 * time.Minute

// exploreFlags are those of explore, as given.
type exploreFlags struct {
	report.Request // as far as the flags say it
	in             language.Language
	scenario       explore.ScenarioFlags
	maxMemory      int // in MB
	against        string
	step, all      bool
	html           string
}

func newExplore() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore NAME",
		Short: "Run a lock in every order its commands can take, and show the shortest way it breaks",
		Long: `explore runs the real code of a lock, under the real sale, in every order that its Redis commands
can take, with as many faults as you allow. It shows the shortest schedule that leads to an anomaly,
and how to replay it.

Faults, each with how often it may happen in one schedule:
` + report.Indent(report.Faults(language.English)) + `
Anomalies that it looks for:
` + report.Indent(report.Anomalies(language.English)) + `
Steps of a schedule, as --replay takes them; A is an actor, SET its command:
` + report.Indent(notationHelp()) + `
Exit code: 0 every schedule was explored, and none shows an anomaly; 1 a schedule shows an anomaly;
2 a bound was hit first, it was interrupted, or trouble.
With --replay, --step: 0 the schedule shows no anomaly, 1 it shows one, 2 it does not fit the code.
With --against: 0 no step differs, 1 one does.
With --all: 0 everything was explored, 2 a bound was hit first, or it was interrupted.
It stops after ten minutes: --max-time.
Longer than two seconds, it says on standard error how far it is.`,
		Example: `  lockstep explore v0
  lockstep explore v2 --faults expiry=1 --anomaly foreign-release
  lockstep explore v4 --nested 1
  lockstep explore v6 --work 25s --nested 1 --faults crash=1,lost-reply=1
  lockstep explore local --replicas 1
  lockstep explore v2 --faults expiry=1 --each
  lockstep explore v2 --faults expiry=1 --why
  lockstep explore v6 --faults pause=1 --step
  lockstep explore v5 --faults expiry=1 --against v6
  lockstep explore v2 --faults expiry=1 --html v2.html
  lockstep explore --all`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeArgument(evolution.Names),
		Annotations:       map[string]string{noSettings: "its clock, its Redis and the expiry (10s) are its own"},
		RunE:              func(cmd *cobra.Command, args []string) error { return runExplore(cmd, args, f) },
	}
	flags := cmd.Flags()
	f.scenario.Add(flags)
	flags.StringVar((*string)(&f.Anomaly), "anomaly", "", "look for this anomaly alone")
	flags.IntVar(&f.Bounds.Schedules, "max-schedules", 0, "stop after so many schedules (with --all: of each exploration); 0: no limit")
	flags.IntVar(&f.maxMemory, "max-memory", 1500, "stop when the heap holds so many MB; 0: no limit")
	flags.DurationVar(&f.Bounds.Time, "max-time", usualTime, "stop after so long (with --all: each exploration); 0: no limit")
	flags.StringVar(&f.Schedule, "replay", "", "run this one schedule, and print the state after each step")
	flags.BoolVar(&f.Mermaid, "mermaid", false, "print the counterexample as a Mermaid diagram, and nothing else")
	flags.BoolVar(&f.JSON, "json", false, "print one JSON document to standard output")
	flags.BoolVar(&f.Why, "why", false, "say from which step on it was too late, and what would have saved it")
	flags.BoolVar(&f.Each, "each", false, "go on after the first anomaly: show the shortest schedule of each")
	flags.BoolVar(&f.step, "step", false, "choose each step yourself, from the start or from the end of --replay")
	flags.StringVar(&f.against, "against", "",
		"run the same schedule, that of --replay or the one found, under this lock too, and on to its end")
	flags.StringVar(&f.html, "html", "",
		"write what was found, or --replay, to this file too: one page to step through, which needs no server")
	flags.BoolVar(&f.all, "all", false, "explore every lock with every fault, and print a table")
	addLanguageFlag(cmd, &f.in)
	complete(cmd, "faults", completeFaults)
	completeWith(cmd, "against", evolution.Names()...)
	completeWith(cmd, "anomaly", anomalyNames()...)
	return cmd
}

func anomalyNames() []string {
	var names []string
	for _, a := range explore.Anomalies() {
		names = append(names, string(a))
	}
	return names
}

func notationHelp() []string {
	var lines []string
	for steps := range slices.Chunk(explore.Notation(), 4) {
		lines = append(lines, strings.Join(steps, ", "))
	}
	return lines
}

func runExplore(cmd *cobra.Command, args []string, f exploreFlags) (err error) {
	if f.Scenario, err = f.scenario.Scenario(); err != nil {
		return meantFaults(err, f.scenario.Faults())
	}
	f.Scenario.Language = f.in
	if err := f.check(cmd, args); err != nil {
		return err
	}
	f.Bounds.Memory = uint64(f.maxMemory) << 20 //nolint:gosec // checked
	defer explore.ReduceGC(f.Bounds)()
	f.Out, f.Err, f.IsTerminal, f.Now = cmd.OutOrStdout(), cmd.ErrOrStderr(), isTerminal(cmd.ErrOrStderr()), time.Now
	f.Command, f.LangFlag = cmd.CommandPath(), langTyped(cmd)
	if isTerminal(f.Out) {
		f.Columns = func() int { return width(f.Out) }
	}
	if f.all {
		found, err := f.ExploreAll(cmd.Context())
		return exitWith(err, found.ExitCode())
	}
	if f.Lock, err = evolution.Find(args[0]); err != nil {
		return meantLock(err, args[0])
	}
	if f.against != "" {
		if f.Against, err = evolution.Find(f.against); err != nil {
			return meantLock(err, f.against)
		}
	}
	if f.Page, err = web.OpenFile(f.html); err != nil {
		return err
	}
	found, err := f.run(cmd)
	return exitWith(errors.Join(err, f.Page.Close()), found.ExitCode()) // a file that cannot be written is trouble, whatever the verdict
}

// run explores or replays one lock.
func (f exploreFlags) run(cmd *cobra.Command) (verdict.Verdict, error) {
	switch {
	case f.step:
		var broken func() error
		f.In, broken = lines(cmd.Context(), cmd.InOrStdin())
		found, err := f.Walk(cmd.Context())
		return found, errors.Join(err, broken())
	case f.against != "":
		return f.Compare(cmd.Context())
	case cmd.Flags().Changed("replay"):
		return f.Replay(cmd.Context())
	default:
		return f.Explore(cmd.Context())
	}
}

// meantFaults adds to an error what was meant by the first fault that there is not.
func meantFaults(err error, faults string) error {
	if faults == "" {
		return err
	}
	for fault := range strings.SplitSeq(faults, ",") {
		if name, _, _ := strings.Cut(fault, "="); !slices.Contains(explore.FaultNames(), name) {
			return suggest(err, name, explore.FaultNames())
		}
	}
	return err
}

// check says what is wrong with the flags.
func (f exploreFlags) check(cmd *cobra.Command, args []string) error {
	names, in, replay := anomalyNames(), f.Scenario, cmd.Flags().Changed("replay")
	switch {
	case f.all && len(args) > 0:
		return fmt.Errorf("--all explores every lock: leave out %q", args[0])
	case f.html != "" && (f.all || f.step || f.against != ""):
		return errors.New("--html writes what explore finds, or --replay: leave out --all, --step and --against")
	case f.all && (f.Each || f.Why || f.step || f.against != "" || f.Anomaly != "" || f.Mermaid || replay ||
		in.String() != explore.Scenario{Actors: in.Actors}.String()):
		return errors.New("--all has scenarios of its own: it takes --actors, --json, and the bounds alone")
	case !f.all && len(args) == 0:
		return fmt.Errorf("explore which lock? There are %s; or --all", strings.Join(evolution.Names(), ", "))
	case replay && strings.TrimSpace(f.Schedule) == "":
		return errors.New("--replay: the schedule is empty; it takes steps, as in --replay \"A:SET B:SET\"")
	case f.Anomaly != "" && !slices.Contains(names, string(f.Anomaly)):
		return suggest(fmt.Errorf("anomaly: there is no %q; there are %s", f.Anomaly, strings.Join(names, ", ")), string(f.Anomaly), names)
	case f.Bounds.Schedules < 0:
		return fmt.Errorf("max-schedules: %d is less than none", f.Bounds.Schedules)
	case f.maxMemory < 0 || f.maxMemory > 1<<20:
		return fmt.Errorf("max-memory: %d; it takes 0 to %d MB", f.maxMemory, 1<<20)
	case f.Bounds.Time < 0:
		return fmt.Errorf("max-time: %v is less than none", f.Bounds.Time)
	case f.Each && (f.Anomaly != "" || f.step || f.against != "" || replay):
		return errors.New("--each looks for all anomalies in all schedules: leave out --anomaly, --replay, --step and --against")
	case f.Why && f.Anomaly.OnRequest():
		return fmt.Errorf("--why knows no way without %s, of which no lock promises to be free: leave it out", f.Anomaly)
	case f.Mermaid && f.JSON:
		return errors.New("--mermaid and --json are two documents: choose one")
	case f.step && (f.Why || f.against != "" || f.Mermaid || f.JSON || f.Anomaly != ""):
		return errors.New("--step shows each step by itself: beside it, explore takes a scenario and --replay")
	case f.against != "" && (f.Why || f.Mermaid):
		return errors.New("--against prints two schedules side by side: leave out --why and --mermaid")
	}
	return in.Check()
}
