package cli

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/internal/evolution"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
)

// newLab returns the lab command.
func newLab() *cobra.Command {
	var lock, redis string
	var asJSON bool
	var lang language.Language
	cmd := &cobra.Command{
		Use:   "lab [NAME]",
		Short: "Cause one flaw on the running service, and show who took part",
		Long: `lab starts replicas as processes on a Redis of their own, injects a real fault that makes one flaw
happen, and draws what happened. It runs the lock that has the flaw, and then the lock that cures
it; with --lock it runs only that lock. Without a name it lists the labs, or with --lock the labs
of that lock.

Exit code: 0 the lab observed what it expects; 1 it did not; 2 there is no verdict, as the fault hit
nobody, or an error.`,
		Example:           "  lockstep lab\n  lockstep lab foreign-delete\n  lockstep lab check-then-delete --lock v3 --redis real",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeArgument(labNames),
		Annotations:       map[string]string{noSettings: "each lab has its own"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if redis != string(lab.Embedded) && redis != string(lab.Real) {
				return language.Translate(fmt.Errorf("--redis %q is not allowed: want embedded or real", redis),
					"--redis 不能是“%s”：取值 embedded 或 real", redis)
			}
			if len(args) == 0 {
				return listLabs(cmd, lock, lang, asJSON)
			}
			return runLab(cmd, args[0], lock, lab.Kind(redis), lang, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&lock, "lock", "", "run only with this lock")
	flags.StringVar(&redis, "redis", string(lab.Embedded), "embedded, or real: start a redis-server or valkey-server for the lab")
	flags.BoolVar(&asJSON, "json", false, "print one JSON document to standard output")
	addLanguageFlag(cmd, &lang)
	completeWith(cmd, "lock", evolution.Names()...)
	completeWith(cmd, "redis", string(lab.Embedded), string(lab.Real))
	return cmd
}

// labNames returns the names of the labs that run on the service.
func labNames() []string { return namesOf(lab.OnService()) }

// namesOf returns the names of labs.
func namesOf(labs []lab.Lab) (names []string) {
	for _, l := range labs {
		names = append(names, l.Name)
	}
	return names
}

// runLab runs a lab with the locks that it needs, or only with lock, and prints the results.
func runLab(cmd *cobra.Command, name, lock string, kind lab.Kind, lang language.Language, asJSON bool) error {
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
	messages := messageWriter(cmd, asJSON)
	fmt.Fprint(messages, lang.Say("%s: %s\nThe promise: %s.\n", "%s：%s\n承诺：%s。\n", l.Name, l.Title.In(lang), l.Claim.In(lang)))
	var results []lab.Result
	for _, lock := range locks {
		result, err := l.Run(cmd.Context(), lab.MachineEnvironment(program), lab.RunOptions{Lock: lock, Redis: kind, In: lang})
		if err != nil {
			return err
		}
		fmt.Fprint(messages, result.Text(cmd.Root().CommandPath(), langTyped(cmd)))
		results = append(results, result)
	}
	if lock == "" {
		fmt.Fprintf(messages, "\n%s\n", l.HowCured(lang))
		if diff := l.Diff(); diff != "" {
			fmt.Fprint(messages, lang.Say("All changes: %s %s%s\n", "全部改动：%s %s%s\n", cmd.Root().CommandPath(), diff, langTyped(cmd)))
		}
	}
	if asJSON {
		err = web.WriteJSON(cmd.OutOrStdout(), results)
	}
	return exitWith(err, lab.ExitCode(results))
}

// listLabs prints the labs of one lock, or, without a lock, all labs.
func listLabs(cmd *cobra.Command, lock string, lang language.Language, asJSON bool) error {
	labs := lab.OnService()
	if lock != "" {
		if _, err := evolution.Find(lock); err != nil {
			return suggest(err, lock, evolution.Names())
		}
		labs = slices.DeleteFunc(labs, func(l lab.Lab) bool { return l.Expects(lock).Verdict == verdict.NA })
	}
	if asJSON {
		return web.WriteJSON(cmd.OutOrStdout(), namesOf(labs))
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, language.Both("LAB\tFLAW, CURE\tTROUBLE", "实验\t缺陷，修复\t会出什么问题").In(lang))
	for _, l := range labs {
		fmt.Fprintf(table, "%s\t%s\t%s\n", l.Name, l.FlawAndCure(), l.Title.In(lang))
	}
	return table.Flush()
}
