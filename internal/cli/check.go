package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lockstep/internal/exercise"
	"lockstep/internal/language"
	"lockstep/internal/web"
)

// checkFlags are those of check, as given.
type checkFlags struct {
	watch, hint, solution, asJSON bool

	in language.Language
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
		Example:           "  lockstep check\n  lockstep check 05\n  lockstep check nested --hint\n  lockstep check --watch",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeArgument(exercise.IDs),
		Annotations:       map[string]string{noSettings: "each exercise has its own scenarios"},
		RunE:              func(cmd *cobra.Command, args []string) error { return runCheck(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.watch, "watch", false, "check again whenever you save, and go on to the next exercise when one is done")
	flags.BoolVar(&f.hint, "hint", false, "give the next of three hints")
	flags.BoolVar(&f.solution, "solution", false, "show the solution: of what is done, or when asked for twice")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	addLanguageFlag(cmd, &f.in)
	return cmd
}

func runCheck(cmd *cobra.Command, args []string, f checkFlags) error {
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
	learner, err := exercise.At(here, f.in)
	if err != nil {
		return err
	}
	if f.asJSON {
		learner.JSON = func(document any) error { return web.WriteJSON(cmd.OutOrStdout(), document) }
	}
	learner.People, learner.Typed = people(cmd, f.asJSON), cmd.CommandPath()+langTyped(cmd)
	if len(args) == 0 && !f.watch && !f.hint && !f.solution {
		return learner.List()
	}
	e, err := learner.Choose(args...)
	code := exitOK
	switch {
	case errors.Is(err, exercise.ErrUnknown):
		return suggest(err, args[0], exercise.Names())
	case err != nil:
		return err
	case f.watch:
		return learner.Watch(cmd.Context(), e)
	case f.hint:
		err = learner.Hint(e)
	case f.solution:
		err = learner.Solution(e)
	default:
		outcome, checked := learner.Check(cmd.Context(), e)
		err, code = checked, outcome.State.ExitCode()
	}
	var forgotten exercise.ForgottenError
	if errors.As(err, &forgotten) { // what was asked for is there
		fmt.Fprintln(cmd.ErrOrStderr(), "check:", err)
		err = nil
	}
	return exitWith(err, code)
}
