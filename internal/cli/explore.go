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

// exitBroken is the exit code of a command that found an anomaly.
const exitBroken = 1

// defaultMaxTime is the default of --max-time: longer than any lock needs with two actors and one fault, even on a slow machine.
const defaultMaxTime = 10 * time.Minute

// exploreFlags holds the parsed flags of explore. runExplore completes its Request.
type exploreFlags struct {
	report.Request
	lang      language.Language
	scenario  explore.ScenarioFlags
	maxMemory int    // heap limit in MB; 0: no limit
	against   string // name of the lock to compare with; empty: none
	step      bool   // true: the user chooses each step
	all       bool   // true: explore every lock
	html      string // file for the page; empty: no page
}

// newExplore returns the explore command.
func newExplore() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore NAME",
		Short: "Run a lock in every order of its commands, and show the shortest way it breaks",
		Long: `explore runs the real code of a lock and of a sale in every order that their Redis commands can
take, with up to as many faults as you allow. It shows the shortest schedule that leads to an
anomaly, and how to replay it.

Faults; each takes the number of times that it may happen in one schedule:
` + report.Indent(report.FaultLines(language.English)) + `
Anomalies:
` + report.Indent(report.AnomalyLines(language.English)) + `
Steps of a schedule for --replay, where A is an actor and SET its command:
` + report.Indent(notationHelp()) + `
Exit code: 0 every schedule was explored, and none shows an anomaly; 1 a schedule shows an anomaly;
2 a bound was hit first, explore was interrupted, or an error.
With --replay, --step: 0 the schedule shows no anomaly, 1 it shows one, 2 it does not fit the code.
With --against: 0 no step differs, 1 a step differs.
With --all: 0 everything was explored, 2 a bound was hit first, or explore was interrupted.
By default it stops after ten minutes (--max-time).
If it runs for more than two seconds, it reports its progress on standard error.`,
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
		Annotations:       map[string]string{noSettings: "it has its own clock, Redis and expiry (10s)"},
		RunE:              func(cmd *cobra.Command, args []string) error { return runExplore(cmd, args, f) },
	}
	flags := cmd.Flags()
	f.scenario.Add(flags)
	flags.StringVar((*string)(&f.Anomaly), "anomaly", "", "look only for this anomaly")
	flags.IntVar(&f.Bounds.Schedules, "max-schedules", 0, "maximum number of schedules (with --all: of each exploration); 0: no limit")
	flags.IntVar(&f.maxMemory, "max-memory", 1500, "maximum heap size in MB; 0: no limit")
	flags.DurationVar(&f.Bounds.Time, "max-time", defaultMaxTime, "maximum duration (with --all: of each exploration); 0: no limit")
	flags.StringVar(&f.Schedule, "replay", "", "run only this schedule, and print the state after each step")
	flags.BoolVar(&f.Mermaid, "mermaid", false, "print only the counterexample, as a Mermaid diagram")
	flags.BoolVar(&f.JSON, "json", false, "print one JSON document to standard output")
	flags.BoolVar(&f.Why, "why", false, "say from which step on the anomaly could not be avoided, and what would have avoided it")
	flags.BoolVar(&f.Each, "each", false, "continue after the first anomaly, and show the shortest schedule of each")
	flags.BoolVar(&f.step, "step", false, "choose each step yourself, from the start or after the schedule of --replay")
	flags.StringVar(&f.against, "against", "",
		"run the schedule of --replay, or the one found, under this lock as well, and complete it")
	flags.StringVar(&f.html, "html", "",
		"also write the counterexample, or the schedule of --replay, to this file: a page that needs no server")
	flags.BoolVar(&f.all, "all", false, "explore every lock with each fault that some lock can stand, one at a time, and print a table")
	addLanguageFlag(cmd, &f.lang)
	complete(cmd, "faults", completeFaults)
	completeWith(cmd, "against", evolution.Names()...)
	completeWith(cmd, "anomaly", anomalyNames()...)
	return cmd
}

// anomalyNames returns the names of all anomalies, for --anomaly.
func anomalyNames() []string {
	var names []string
	for _, a := range explore.Anomalies() {
		names = append(names, string(a))
	}
	return names
}

// notationHelp returns the help on the steps of a schedule, four in each line.
func notationHelp() []string {
	var lines []string
	for steps := range slices.Chunk(explore.Notation(), 4) {
		lines = append(lines, strings.Join(steps, ", "))
	}
	return lines
}

// runExplore runs the explore command.
func runExplore(cmd *cobra.Command, args []string, f exploreFlags) (err error) {
	if f.Scenario, err = f.scenario.Scenario(); err != nil {
		return suggestFault(err, f.scenario.Faults())
	}
	f.Scenario.Language = f.lang
	if err := f.check(cmd, args); err != nil {
		return err
	}
	f.Bounds.Memory = uint64(f.maxMemory) << 20 //nolint:gosec // check has bounded it
	defer explore.ReduceGC(f.Bounds)()
	f.Out, f.Err, f.IsTerminal, f.Now = cmd.OutOrStdout(), cmd.ErrOrStderr(), isTerminal(cmd.ErrOrStderr()), time.Now
	f.Command, f.LangFlag = cmd.CommandPath(), langTyped(cmd)
	if isTerminal(f.Out) {
		f.Columns = func() int { return terminalWidth(f.Out) }
	}
	if f.all {
		found, err := f.ExploreAll(cmd.Context())
		return exitWith(err, found.ExitCode())
	}
	if f.Lock, err = evolution.Find(args[0]); err != nil {
		return suggestLock(err, args[0])
	}
	if f.against != "" {
		if f.Against, err = evolution.Find(f.against); err != nil {
			return suggestLock(err, f.against)
		}
	}
	if f.Page, err = web.OpenFile(f.html); err != nil {
		return err
	}
	found, err := f.run(cmd)
	return exitWith(errors.Join(err, f.Page.Close()), found.ExitCode()) // An output error decides the exit code, whatever the verdict.
}

// run does what the flags ask for with one lock: explore, replay, compare, or step by step.
func (f exploreFlags) run(cmd *cobra.Command) (verdict.Verdict, error) {
	switch {
	case f.step:
		var readErr func() error
		f.In, readErr = readLines(cmd.Context(), cmd.InOrStdin())
		found, err := f.Walk(cmd.Context())
		return found, errors.Join(err, readErr())
	case f.against != "":
		return f.Compare(cmd.Context())
	case cmd.Flags().Changed("replay"):
		return f.Replay(cmd.Context())
	default:
		return f.Explore(cmd.Context())
	}
}

// suggestFault adds to an error a suggestion for the first unknown fault of a list.
func suggestFault(err error, faults string) error {
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

// check returns an error if the arguments and flags do not fit together.
func (f exploreFlags) check(cmd *cobra.Command, args []string) error {
	names, scenario, replay := anomalyNames(), f.Scenario, cmd.Flags().Changed("replay")
	switch {
	case f.all && len(args) > 0:
		return language.Translate(fmt.Errorf("--all explores every lock: leave out %q", args[0]), "--all 会探索每一种锁：请去掉“%s”", args[0])
	case f.html != "" && (f.all || f.step || f.against != ""):
		return language.Translate(errors.New("--html writes a counterexample or the schedule of --replay: leave out --all, --step and --against"),
			"--html 写出反例，或 --replay 的时序：请去掉 --all、--step 和 --against")
	case f.all && (f.Each || f.Why || f.step || f.against != "" || f.Anomaly != "" || f.Mermaid || replay ||
		scenario.String() != explore.Scenario{Actors: scenario.Actors}.String()):
		return language.Translate(errors.New("--all has scenarios of its own: it takes only --actors, --json and the bounds"),
			"--all 有自己的场景：只能与 --actors、--json 和各种上限同用")
	case !f.all && len(args) == 0:
		return language.Translate(fmt.Errorf("which lock? Name one of %s, or use --all", strings.Join(evolution.Names(), ", ")),
			"请指定一种锁：%s；或者用 --all", strings.Join(evolution.Names(), "、"))
	case replay && strings.TrimSpace(f.Schedule) == "":
		return language.Translate(errors.New("--replay: the schedule is empty; want steps, as in --replay \"A:SET B:SET\""),
			"--replay 的时序是空的；写法如 --replay \"A:SET B:SET\"")
	case f.Anomaly != "" && !slices.Contains(names, string(f.Anomaly)):
		return suggest(language.Translate(fmt.Errorf("anomaly: there is no %q; there are %s", f.Anomaly, strings.Join(names, ", ")),
			"没有“%s”这种异常；可选：%s", f.Anomaly, strings.Join(names, "、")), string(f.Anomaly), names)
	case f.Bounds.Schedules < 0:
		return language.Translate(fmt.Errorf("max-schedules: %d is less than none", f.Bounds.Schedules),
			"max-schedules 不能是负数：%d", f.Bounds.Schedules)
	case f.maxMemory < 0 || f.maxMemory > 1<<20:
		return language.Translate(fmt.Errorf("max-memory: %d; it takes 0 to %d MB", f.maxMemory, 1<<20),
			"max-memory 不能是 %d：取值 0 到 %d MB", f.maxMemory, 1<<20)
	case f.Bounds.Time < 0:
		return language.Translate(fmt.Errorf("max-time: %v is less than none", f.Bounds.Time), "max-time 不能是负数：%v", f.Bounds.Time)
	case f.Each && (f.Anomaly != "" || f.step || f.against != "" || replay):
		return language.Translate(
			errors.New("--each looks for all anomalies in all schedules: leave out --anomaly, --replay, --step and --against"),
			"--each 在所有时序里找全部异常：不能与 --anomaly、--replay、--step、--against 同用")
	case f.Why && f.Anomaly.IsOnRequest():
		return language.Translate(fmt.Errorf("--why does not apply to %s, as no lock promises to be free of it: leave --why out", f.Anomaly),
			"--why 不适用于 %s：没有哪种锁承诺避免它；请去掉 --why", f.Anomaly)
	case f.Mermaid && f.JSON:
		return language.Translate(errors.New("--mermaid and --json cannot be combined"), "--mermaid 和 --json 不能同用")
	case f.step && (f.Why || f.against != "" || f.Mermaid || f.JSON || f.Anomaly != ""):
		return language.Translate(errors.New("--step shows each step by itself: it takes only a scenario and --replay"),
			"--step 本来就显示每一步：只能与场景和 --replay 同用")
	case f.against != "" && (f.Why || f.Mermaid):
		return language.Translate(errors.New("--against prints two schedules side by side: leave out --why and --mermaid"),
			"--against 并排打印两个时序：请去掉 --why 和 --mermaid")
	}
	return scenario.Check()
}
