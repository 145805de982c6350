package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/internal/evolution"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
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
		ValidArgsFunction: completeArgument(labNames),
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
	flags.StringVar(&redis, "redis", string(lab.Embedded), "embedded, or real: a redis-server or valkey-server of its own")
	flags.BoolVar(&asJSON, "json", false, "print one JSON document to standard output")
	addLanguageFlag(cmd, &in)
	completeWith(cmd, "lock", evolution.Names()...)
	completeWith(cmd, "redis", string(lab.Embedded), string(lab.Real))
	return cmd
}

func labNames() []string { return namesOf(lab.OnService()) }

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
	locks := l.Locks()
	if lock != "" {
		locks = []string{lock}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	people := people(cmd, asJSON)
	fmt.Fprint(people, in.Say("%s: %s\nThe promise: %s.\n", "%s：%s\n承诺：%s。\n", l.Name, l.Title.In(in), l.Claim.In(in)))
	var results []lab.Result
	for _, lock := range locks {
		result, err := l.Run(cmd.Context(), lab.Machine(program), lab.Play{Lock: lock, Redis: kind, In: in})
		if err != nil {
			return err
		}
		fmt.Fprint(people, result.Text(cmd.Root().CommandPath(), langTyped(cmd)))
		results = append(results, result)
	}
	if lock == "" {
		fmt.Fprintf(people, "\n%s\n", l.HowCured(in))
		if diff := l.Diff(); diff != "" {
			fmt.Fprint(people, in.Say("All of it: %s %s%s\n", "全部改动：%s %s%s\n", cmd.Root().CommandPath(), diff, langTyped(cmd)))
		}
	}
	if asJSON {
		err = web.WriteJSON(cmd.OutOrStdout(), results)
	}
	return exitWith(err, lab.ExitCode(results))
}

// listLabs lists what there is, for one lock or, without one, for any.
func listLabs(cmd *cobra.Command, lock string, in language.Language, asJSON bool) error {
	labs := lab.OnService()
	if lock != "" {
		if _, err := evolution.Find(lock); err != nil {
			return suggest(err, lock, evolution.Names())
		}
		labs = slices.DeleteFunc(labs, func(l lab.Lab) bool { return l.Expects(lock).Observed == verdict.NA })
	}
	if asJSON {
		return web.WriteJSON(cmd.OutOrStdout(), namesOf(labs))
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, language.Both("LAB\tFLAW, CURE\tTROUBLE", "实验\t缺陷，修复\t会出什么问题").In(in))
	for _, l := range labs {
		fmt.Fprintf(table, "%s\t%s\t%s\n", l.Name, strings.Join(l.Locks(), " → "), l.Title.In(in))
	}
	return table.Flush()
}
