package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
	"lockstep/internal/learn/progress"
	"lockstep/internal/learn/workshop"
)

// checkFlags are those of check, as given.
type checkFlags struct {
	watch, hint, solution, asJSON bool

	in language.Language
}

// desk is where a learner works: the exercises, what has been done, and who reads.
type desk struct {
	checkFlags
	checker workshop.Checker
	store   *progress.Store
	words   checkWords
	people  io.Writer // who reads sentences
	out     io.Writer // standard output
	typed   string    // the command as it was typed, and in which language it speaks
}

func newCheck() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [EXERCISE]",
		Short: "Check your solution of an exercise: the shortest way it breaks, or done",
		Long: `check compiles an exercise, the package in exercises/ that you have edited, and runs it in every
order that its Redis commands can take. It shows the shortest schedule that breaks the exercise's
claim, or says that it is done. Without an exercise it lists all of them, and what you have done;
--watch, --hint and --solution then take the first that is not done.

What was done and which hints were given is in .lockstep-course.json, beside go.mod.

Exit code: 0 done; 1 not yet; 2 it cannot be said: the code does not compile, panics, or waits where
the explorer cannot see it; or trouble. Hints, the solution and the list: 0, or 2 for trouble. That
the file cannot be written is said after the verdict, and does not change the exit code.`,
		Example: "  lockstep check\n  lockstep check 05\n  lockstep check nested --hint\n  lockstep check --watch",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return workshop.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		Annotations: map[string]string{noSettings: ""},
		RunE:        func(cmd *cobra.Command, args []string) error { return runCheck(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.watch, "watch", false, "check again whenever you save, and go on to the next exercise when one is done")
	flags.BoolVar(&f.hint, "hint", false, "give the next of three hints")
	flags.BoolVar(&f.solution, "solution", false, "show the solution: of what is done, or when asked for twice")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	speaks(cmd, &f.in)
	return cmd
}

func runCheck(cmd *cobra.Command, args []string, f checkFlags) error {
	if foreign := foreignFlags(cmd); len(foreign) > 0 {
		return fmt.Errorf("%s: check takes no settings: each exercise has its own scenarios", strings.Join(foreign, ", "))
	}
	switch {
	case f.hint && f.solution:
		return errors.New("--hint and --solution: choose one")
	case f.watch && (f.hint || f.solution || f.asJSON):
		return errors.New("--watch goes on until you end it: leave out --hint, --solution and --json")
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	root, err := workshop.FindRoot(here)
	if err != nil {
		return err
	}
	d := desk{
		checkFlags: f, checker: workshop.Checker{Root: root}, store: progress.In(root), words: checkWordsIn(f.in),
		people: cmd.OutOrStdout(), out: cmd.OutOrStdout(), typed: cmd.CommandPath() + langTyped(cmd),
	}
	if f.asJSON {
		d.people = cmd.ErrOrStderr()
	}
	if len(args) == 0 && !f.watch && !f.hint && !f.solution {
		return d.list()
	}
	return d.serve(cmd, args)
}

// serve does what was asked for with one exercise.
func (d desk) serve(cmd *cobra.Command, args []string) error {
	e, err := d.choose(args)
	if err != nil {
		return err
	}
	switch {
	case d.hint:
		return d.giveHint(e)
	case d.solution:
		return d.showSolution(e)
	}
	if d.checker, err = workshop.NewChecker(d.checker.Root); err != nil {
		return err
	}
	if d.watch {
		return d.watchFrom(cmd.Context(), e)
	}
	outcome, err := d.check(cmd.Context(), e)
	var forgotten forgottenError
	switch {
	case errors.As(err, &forgotten): // the verdict is what was asked for
		fmt.Fprintln(cmd.ErrOrStderr(), "check:", err)
	case err != nil:
		return err
	}
	return exitOf(outcome.State)
}

// choose gives the exercise that was named, or the first that is not done.
func (d desk) choose(args []string) (workshop.Exercise, error) {
	if len(args) > 0 {
		e, err := workshop.Find(args[0])
		if err != nil {
			var names []string
			for _, e := range workshop.All() {
				names = append(names, e.Name)
			}
			return e, suggest(err, args[0], names)
		}
		return e, nil
	}
	p, err := d.store.Load()
	if err != nil {
		return workshop.Exercise{}, err
	}
	next, left := firstNotDone(p)
	if !left {
		return next, errors.New("every exercise is done: name the one you mean")
	}
	return next, nil
}

func firstNotDone(p progress.Progress) (workshop.Exercise, bool) {
	for _, e := range workshop.All() {
		if !p.Done[e.ID()] {
			return e, true
		}
	}
	return workshop.Exercise{}, false
}

func exitOf(s workshop.State) error {
	switch s {
	case workshop.Done:
		return nil
	case workshop.NotYet:
		return exitCode(exitBroken)
	default:
		return exitCode(exitTrouble)
	}
}
