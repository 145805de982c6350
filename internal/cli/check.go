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

// checkFlags holds the parsed flags of check.
type checkFlags struct {
	watch, hint, solution, asJSON bool

	lang language.Language
}

// newCheck returns the check command.
func newCheck() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [EXERCISE]",
		Short: "Check your solution of an exercise, and show the shortest way it breaks",
		Long: `check compiles an exercise, the package in exercises/ that you have edited, and runs it in every
order that its Redis commands can take. It shows the shortest schedule that breaks the claim of the
exercise, or reports that the exercise is done. Without an argument it lists all exercises and your
progress; --watch, --hint and --solution then use the first exercise that is not done.

Your progress and the hints that you have seen are stored in .lockstep-course.json, beside go.mod.

Exit code: 0 done; 1 not done yet; 2 there is no verdict (the code does not compile, panics, or
waits where the explorer cannot see it), or an error. Hints, the solution and the list exit with 0,
or with 2 after an error. If the progress cannot be stored, check says so after the verdict, and
the exit code stays the same.`,
		Example:           "  lockstep check\n  lockstep check 05\n  lockstep check nested --hint\n  lockstep check --watch",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeArgument(exercise.IDs),
		Annotations:       map[string]string{noSettings: "each exercise has its own scenarios"},
		RunE:              func(cmd *cobra.Command, args []string) error { return runCheck(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.watch, "watch", false, "check again after each save, and go on to the next exercise when one is done")
	flags.BoolVar(&f.hint, "hint", false, "print the next of three hints")
	flags.BoolVar(&f.solution, "solution", false, "print the solution, if the exercise is done or on the second request")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	addLanguageFlag(cmd, &f.lang)
	return cmd
}

// runCheck runs the check command.
func runCheck(cmd *cobra.Command, args []string, f checkFlags) error {
	switch {
	case f.hint && f.solution:
		return language.Translate(errors.New("--hint and --solution cannot be combined"), "--hint 和 --solution 不能同用")
	case f.watch && (f.hint || f.solution || f.asJSON):
		return language.Translate(errors.New("--watch runs until you stop it: it cannot be combined with --hint, --solution or --json"),
			"--watch 会一直运行，直到你停止它：不能与 --hint、--solution、--json 同用")
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	learner, err := exercise.LearnerIn(here, f.lang)
	if err != nil {
		return err
	}
	if f.asJSON {
		learner.JSON = func(document any) error { return web.WriteJSON(cmd.OutOrStdout(), document) }
	}
	learner.People, learner.Typed = messageWriter(cmd, f.asJSON), cmd.CommandPath()+langTyped(cmd)
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
	if errors.As(err, &forgotten) { // The verdict or hint itself has been printed; only storing the progress failed.
		fmt.Fprintln(cmd.ErrOrStderr(), "check:", language.TextOf(err, f.lang))
		err = nil
	}
	return exitWith(err, code)
}
