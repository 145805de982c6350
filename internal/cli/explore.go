package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/explore"
	"lockstep/internal/explore/graph"
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

const exitBroken = 1

// exploreFlags are those of explore, as given.
type exploreFlags struct {
	flags        explore.ScenarioFlags
	scenario     explore.Scenario // as the flags say
	language     language.Language
	anomaly      string
	property     string // the old name of anomaly
	maxSchedules int
	maxMemory    int
	maxTime      time.Duration
	replay       string
	mermaid      bool
	asJSON       bool
	all          bool
	each         bool
	why          bool
	step         bool
	against      string
	html         string
	file         *htmlFile // of html
	now          func() time.Time
}

func newExplore() *cobra.Command {
	f := exploreFlags{now: time.Now}
	cmd := &cobra.Command{
		Use:   "explore NAME",
		Short: "Run a lock in every order its commands can take, and show the shortest way it breaks",
		Long: `explore runs the real code of a lock, under the real sale, in every order that its Redis commands
can take, with as many faults as you allow. It shows the shortest schedule that leads to an anomaly,
and how to replay it.

Faults, each with how often it may happen in one schedule:
` + indent(faultHelp(language.English)...) + `
Anomalies that it looks for:
` + indent(anomalyHelp(language.English)...) + `
Steps of a schedule, as --replay takes them; A is an actor, SET its command:
` + indent(notationHelp()...) + `
Exit code: 0 every schedule was explored, and none shows an anomaly; 1 a schedule shows an anomaly;
2 a bound was hit first, it was interrupted, or trouble.
With --replay, --step: 0 the schedule shows no anomaly, 1 it shows one, 2 it does not fit the code.
With --against: 0 no step differs, 1 one does.
With --all: 0 everything was explored, 2 a bound was hit first, or it was interrupted.
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
		ValidArgsFunction: completeLock,
		Annotations:       map[string]string{noSettings: ""},
		RunE:              func(cmd *cobra.Command, args []string) error { return runExplore(cmd, args, f) },
	}
	flags := cmd.Flags()
	f.flags.Add(flags)
	flags.StringVar(&f.anomaly, "anomaly", "", "look for this anomaly alone")
	flags.StringVar(&f.property, "property", "", "the old name of --anomaly")
	flags.Lookup("property").Hidden = true // it is refused, with its new name
	flags.IntVar(&f.maxSchedules, "max-schedules", 0, "stop after so many schedules (with --all: of each exploration); 0: no limit")
	flags.IntVar(&f.maxMemory, "max-memory", 1500, "stop when the heap holds so many MB; 0: no limit")
	flags.DurationVar(&f.maxTime, "max-time", 0, "stop after so long (with --all: each exploration); 0: no limit")
	flags.StringVar(&f.replay, "replay", "", "run this one schedule, and print the state after each step")
	flags.BoolVar(&f.mermaid, "mermaid", false, "print the counterexample as a Mermaid diagram, and nothing else")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	flags.BoolVar(&f.why, "why", false, "say from which step on it was too late, and what would have saved it")
	flags.BoolVar(&f.each, "each", false, "go on after the first anomaly: show the shortest schedule of each")
	flags.BoolVar(&f.step, "step", false, "choose each step yourself, from the start or from the end of --replay")
	flags.StringVar(&f.against, "against", "",
		"run the same schedule under this lock too, to the first step that differs: that of --replay, or the one found")
	flags.StringVar(&f.html, "html", "",
		"write what was found, or --replay, to this file too: one page to step through, which needs no server")
	flags.BoolVar(&f.all, "all", false, "explore every lock with every fault, and print a table")
	speaks(cmd, &f.language)
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

func anomalyHelp(in language.Language) []string {
	var lines []string
	for _, a := range explore.Anomalies() {
		lines = append(lines, fmt.Sprintf("%-16s %s", a, a.Says().In(in)))
	}
	return lines
}

func faultHelp(in language.Language) []string {
	var lines []string
	for _, f := range explore.AllFaults() {
		lines = append(lines, fmt.Sprintf("%-13s %s", f.Name, f.Says.In(in)))
	}
	return lines
}

func notationHelp() []string {
	var lines []string
	for steps := range slices.Chunk(explore.Notation(), 5) {
		lines = append(lines, strings.Join(steps, ", "))
	}
	return lines
}

func indent(lines ...string) string {
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

func runExplore(cmd *cobra.Command, args []string, f exploreFlags) error {
	var err error
	if f.scenario, err = f.flags.Scenario(); err != nil {
		return meantFaults(err, f.flags.Faults())
	}
	f.scenario.Language = f.language
	if err := f.check(cmd, args); err != nil {
		return err
	}
	bounds := explore.Bounds{Schedules: f.maxSchedules, Memory: uint64(f.maxMemory) << 20, Time: f.maxTime} //nolint:gosec // checked
	defer explore.CollectRarely(bounds)()
	if f.all {
		return exploreAll(cmd, f, bounds)
	}
	strategy, err := findLock(args[0])
	if err != nil {
		return err
	}
	if f.file, err = openHTML(f.html); err != nil {
		return err
	}
	err = runOne(cmd, f, strategy, bounds)
	if closed := f.file.close(); closed != nil { // or the exit code would stand for it
		return closed
	}
	return err
}

// runOne explores or replays one lock.
func runOne(cmd *cobra.Command, f exploreFlags, strategy strategy.Strategy, bounds explore.Bounds) error {
	goal := explore.Goal{All: f.each}
	if f.anomaly != "" {
		a := explore.Anomaly(f.anomaly)
		if !a.Applies(strategy) && !a.ByName() {
			return fmt.Errorf("anomaly: %s does not promise that %s never happens: it keeps no lock in Redis; "+
				"without --anomaly, explore looks for all that it promises to prevent", strategy.Name, a)
		}
		goal.Anomalies = []explore.Anomaly{a}
	}
	switch {
	case f.step:
		return stepThrough(cmd, f, strategy)
	case f.against != "":
		return compare(cmd, f, strategy, goal, bounds)
	case cmd.Flags().Changed("replay"):
		return replay(cmd, f, strategy, goal)
	default:
		return explored(cmd, f, strategy, goal, bounds)
	}
}

// explored explores a lock, and prints what was found.
func explored(cmd *cobra.Command, f exploreFlags, strategy strategy.Strategy, goal explore.Goal, bounds explore.Bounds) error {
	result, err := f.explore(cmd, strategy, goal, bounds)
	if err != nil {
		return err
	}
	var whys []*graph.Why
	for _, found := range result.Found {
		why, err := f.explain(cmd.Context(), strategy, found.Schedule, found.Anomaly)
		if err != nil {
			return err
		}
		whys = append(whys, why)
	}
	told := f.show(cmd, result, whys)
	return cmp.Or(f.writeFound(cmd, strategy, result.Found), told) // a file that cannot be written is trouble, whatever the verdict
}

// explore explores a lock, and says meanwhile how far it is.
func (f exploreFlags) explore(cmd *cobra.Command, s strategy.Strategy, goal explore.Goal, bounds explore.Bounds) (explore.Result, error) {
	progress := newExploreProgress(cmd.ErrOrStderr(), f.now)
	defer progress.end()
	goal.Progress = func(r explore.Result) {
		progress.say(f.scenario.Say("%d steps deep, %d schedules, %d states", "深 %d 步，%d 种时序，%d 个状态", r.Depth, r.Schedules, r.States))
	}
	return explore.Explore(cmd.Context(), s, f.scenario, goal, bounds)
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

// newName is what an anomaly is called that was a property once.
func newName(anomaly string) string {
	if anomaly == "mutual-exclusion" {
		return string(explore.TwoHolders)
	}
	return anomaly
}

// check says what is wrong with the flags.
func (f exploreFlags) check(cmd *cobra.Command, args []string) error {
	names := anomalyNames()
	foreign := foreignFlags(cmd)
	switch {
	case cmd.Flags().Changed("property"):
		return fmt.Errorf("--property is called --anomaly now: --anomaly %s", newName(f.property))
	case len(foreign) > 0:
		return fmt.Errorf("%s: explore takes no settings: its clock, its Redis and the expiry (10s) are its own", strings.Join(foreign, ", "))
	case f.all && len(args) > 0:
		return fmt.Errorf("--all explores every lock: leave out %q", args[0])
	case f.html != "" && (f.all || f.step || f.against != ""):
		return errors.New("--html writes what explore finds, or --replay: leave out --all, --step and --against")
	case f.all && (f.each || f.why || f.step || f.against != "" || f.anomaly != "" || f.mermaid ||
		cmd.Flags().Changed("replay") || f.flags.Faults() != "" ||
		f.scenario.Try+f.scenario.Nested+f.scenario.Replicas > 0 || f.scenario.Work+f.scenario.Skew > 0):
		return errors.New("--all has scenarios of its own: it takes --actors, --json, and the bounds alone")
	case !f.all && len(args) == 0:
		return fmt.Errorf("explore which lock? There are %s; or --all", strings.Join(evolution.Names(), ", "))
	case newName(f.anomaly) != f.anomaly:
		return fmt.Errorf("anomaly: %s is called %s now", f.anomaly, newName(f.anomaly))
	case f.anomaly != "" && !slices.Contains(names, f.anomaly):
		return suggest(fmt.Errorf("anomaly: there is no %q; there are %s", f.anomaly, strings.Join(names, ", ")), f.anomaly, names)
	case f.maxSchedules < 0:
		return fmt.Errorf("max-schedules: %d is less than none", f.maxSchedules)
	case f.maxMemory < 0 || f.maxMemory > 1<<20:
		return fmt.Errorf("max-memory: %d; it takes 0 to %d MB", f.maxMemory, 1<<20)
	case f.maxTime < 0:
		return fmt.Errorf("max-time: %v is less than none", f.maxTime)
	case f.each && (f.anomaly != "" || f.step || f.against != "" || cmd.Flags().Changed("replay")):
		return errors.New("--each looks for all anomalies in all schedules: leave out --anomaly, --replay, --step and --against")
	case f.mermaid && f.asJSON:
		return errors.New("--mermaid and --json are two documents: choose one")
	case f.step && (f.why || f.against != "" || f.mermaid || f.asJSON || f.anomaly != ""):
		return errors.New("--step shows each step by itself: beside it, explore takes a scenario and --replay")
	case f.against != "" && (f.why || f.mermaid):
		return errors.New("--against prints two schedules side by side: leave out --why and --mermaid")
	}
	return f.scenario.Check()
}

// show prints what was found, and gives the exit code.
func (f exploreFlags) show(cmd *cobra.Command, r explore.Result, whys []*graph.Why) error {
	people, say := cmd.OutOrStdout(), f.scenario.Say
	if f.asJSON || f.mermaid {
		people = cmd.ErrOrStderr()
	}
	if f.asJSON {
		if err := writeJSON(cmd.OutOrStdout(), toJSON(r, whys)); err != nil {
			return err
		}
	}
	seen := say("%d schedules, %d states, at most %d steps", "%d 种时序，%d 个状态，最多 %d 步", r.Schedules, r.States, r.Depth)
	switch r.Verdict() {
	case explore.Broken:
		f.showFound(cmd, people, r, whys)
	case explore.Holds:
		fmt.Fprint(people, say("%s never shows %s: every schedule was explored (%s).\n%s.\n", "%s 从不出现%s：所有时序都探索完了（%s）。\n%s。\n",
			r.Lock, f.lookedFor(), setting(r.Scenario), seen))
	default:
		but := say("the exploration ended early: %s", "探索提前结束：%s", r.Bound)
		if r.Complete {
			but = strings.Join(r.Untested(), say(", and ", "，而且"))
		}
		fmt.Fprint(people, say("%s: unknown. No schedule has shown %s (%s), but %s.\n%s.\n", "%s：未知。没有时序出现%s（%s），但%s。\n%s。\n",
			r.Lock, f.lookedFor(), setting(r.Scenario), but, seen))
	}
	if r.Verdict() != explore.Broken {
		fmt.Fprint(people, tested(r))
	}
	fmt.Fprintln(cmd.ErrOrStderr(), say("%d schedules in %.1f s, %.0f a second", "%d 种时序，用时 %.1f 秒，每秒 %.0f 种",
		r.Schedules, r.Seconds, float64(r.Schedules)/r.Seconds))
	return exitFor(r.Verdict())
}

// showFound prints each counterexample.
func (f exploreFlags) showFound(cmd *cobra.Command, people io.Writer, r explore.Result, whys []*graph.Why) {
	say := f.scenario.Say
	for i, e := range r.Found {
		if i > 0 {
			fmt.Fprintln(people)
		}
		if f.mermaid {
			fmt.Fprint(cmd.OutOrStdout(), e.Trace.Mermaid())
		}
		fmt.Fprint(people, say("%s shows %s in %d steps, and in no fewer: %s.\n", "%s 最少 %[3]d 步就出现 %[2]s：%[4]s。\n",
			r.Lock, e.Anomaly, e.Length, e.Anomaly.Says().In(f.scenario.Language)))
		fmt.Fprintln(people, e.Trace.Legend())
		if !f.mermaid {
			fmt.Fprintln(people, e.Trace.Sequence())
		}
		f.printWhy(people, whys[i])
		fmt.Fprintln(people, say("Step by step: %s %s --replay %q", "逐步重放：%s %s --replay %q",
			cmd.CommandPath(), words(r.Lock, r.Scenario.String()), e.Schedule)+langTyped(cmd))
	}
	if f.each && r.Bound != "" {
		fmt.Fprint(people, say("\nThere may be more: the exploration ended early: %s.\n", "\n可能还有：探索提前结束：%s。\n", r.Bound))
	}
}

// lookedFor names what was looked for, in a sentence.
func (f exploreFlags) lookedFor() string {
	if f.anomaly == "" {
		return f.scenario.Say("an anomaly", "异常")
	}
	return f.scenario.Say("%s", " %s", f.anomaly)
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

// setting says in what a lock was explored.
func setting(s explore.Scenario) string {
	flags := s.String()
	if s.Actors == 2 {
		flags = words(s.Say("2 actors", "2 个参与者"), flags)
	}
	return flags
}

func words(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}
