package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/stage/lab"
)

func newLab() *cobra.Command {
	var lock, redis string
	var asJSON bool
	var in language.Language
	cmd := &cobra.Command{
		Use:   "lab [NAME]",
		Short: "Make one flaw happen on the running service, and see who did it",
		Long: `lab starts replicas as processes, on a Redis of its own, makes one flaw happen by a real fault,
and draws what happened. It runs the step that has the flaw, and then the step that cures it; with
--lock, that lock alone. Without a name it lists the labs, or those that are for one lock.

Exit code: 0 what was observed is what the lab expects; 1 it is not; 2 it cannot be said: the fault
hit nobody, or trouble.`,
		Example:           "  lockstep lab\n  lockstep lab foreign-delete\n  lockstep lab check-then-delete --lock v3 --redis real",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeLab,
		Annotations:       map[string]string{noSettings: "each lab has its own"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if redis != string(lab.Embedded) && redis != string(lab.Real) {
				return fmt.Errorf("--redis %q is not allowed: want embedded or real", redis)
			}
			if len(args) == 0 {
				return listLabs(cmd, lock, in, asJSON)
			}
			return runLab(cmd, args[0], lock, lab.Kind(redis), in, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&lock, "lock", "", "run it with this lock alone")
	flags.StringVar(&redis, "redis", string(lab.Embedded), "embedded, or real: a redis-server of its own")
	flags.BoolVar(&asJSON, "json", false, "print one JSON document to standard output")
	speaks(cmd, &in)
	completeWith(cmd, "lock", evolution.Names()...)
	completeWith(cmd, "redis", string(lab.Embedded), string(lab.Real))
	return cmd
}

func completeLab(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
	return labNames(), cobra.ShellCompDirectiveNoFileComp
}

func labNames() []string { return namesOf(lab.All()) }

func namesOf(labs []lab.Lab) (names []string) {
	for _, l := range labs {
		names = append(names, l.Name)
	}
	return names
}

func runLab(cmd *cobra.Command, name, lock string, kind lab.Kind, in language.Language, asJSON bool) error {
	l, err := lab.Find(name)
	if err != nil {
		return suggest(err, name, labNames())
	}
	l = l.In(in)
	words, locks := labWordsIn(in), l.Locks()
	if lock != "" {
		locks = []string{lock}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	people := cmd.OutOrStdout()
	if asJSON {
		people = cmd.ErrOrStderr()
	}
	fmt.Fprintf(people, words.claim, l.Name, l.Claim)
	results, err := runLocks(cmd, l, program, locks, kind, people, words)
	if err != nil {
		return err
	}
	if lock == "" && l.Shows == "" {
		fmt.Fprintf(people, words.noFlaw, l.Cure)
	} else if lock == "" {
		fmt.Fprintf(people, words.cure, l.Shows, l.Cured, l.Cure)
		if diff := l.Diff(); diff != "" {
			fmt.Fprintf(people, words.diff, diff)
		}
	}
	if asJSON {
		if err := writeJSON(cmd.OutOrStdout(), results); err != nil {
			return err
		}
	}
	if code := lab.ExitCode(results); code != exitOK {
		return exitCode(code)
	}
	return nil
}

func runLocks(
	cmd *cobra.Command, l lab.Lab, program string, locks []string, kind lab.Kind, people io.Writer, words labWords,
) (all []lab.Result, err error) {
	for _, lock := range locks {
		result, err := l.Run(cmd.Context(), program, lock, kind)
		if err != nil {
			return nil, err
		}
		printResultOfLab(people, result, cmd.Root().CommandPath(), langTyped(cmd), words)
		all = append(all, result)
	}
	return all, nil
}

// printResultOfLab tells what a run has shown. The hints begin with the program as it was typed, and end with the language, if it was.
func printResultOfLab(to io.Writer, r lab.Result, typed, lang string, words labWords) {
	verdict := words.asExpected
	if !r.AsExpected() {
		verdict = fmt.Sprintf(words.expectedWas, words.observed(r.Expected))
	}
	fmt.Fprintf(to, words.result, r.Lock, words.observed(r.Observed), verdict, r.Why, r.Seconds, words.redis(r.Redis))
	fmt.Fprintln(to, r.Trace.Sequence())
	if r.Reason != "" {
		fmt.Fprintf(to, words.cannotSay, r.Reason)
	}
	for _, f := range r.Sentences(words.in) {
		fmt.Fprintf(to, "  %s\n", f)
	}
	for _, a := range r.Answers {
		fmt.Fprintf(to, words.buyer, a.Sale, a.Says(words.in), a.Seconds)
	}
	fmt.Fprintf(to, words.again, typed, r.Command+lang)
	if r.Explore != "" {
		fmt.Fprintf(to, words.explore, typed, r.Explore+lang)
	}
}

// listLabs lists what there is, for one lock or, without one, for any.
func listLabs(cmd *cobra.Command, lock string, in language.Language, asJSON bool) error {
	labs := lab.All()
	if lock != "" {
		if _, err := evolution.Find(lock); err != nil {
			return suggest(err, lock, evolution.Names())
		}
		labs = slices.DeleteFunc(labs, func(l lab.Lab) bool { return l.Expects(lock).Observed == lab.NA })
	}
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), namesOf(labs))
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	words := labWordsIn(in)
	fmt.Fprintf(table, "%s\t%s\t%s\n", words.names, words.steps, words.promises)
	for _, l := range labs {
		fmt.Fprintf(table, "%s\t%s\t%s\n", l.Name, strings.Join(l.Locks(), " → "), l.In(in).Claim)
	}
	return table.Flush()
}
