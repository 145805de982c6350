package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/internal/course"
	"lockstep/internal/language"
)

func newCourse() *cobra.Command {
	var in language.Language
	var reset, list bool
	cmd := &cobra.Command{
		Use:   "course [N]",
		Short: "Take the course: predict, run, see, and read why",
		Long: `course goes through the lessons of docs/course in the terminal. It asks what you expect, runs the
command of the lesson, and says whether you were right, and why. It goes on where you left, or with
lesson N. Your progress is in .lockstep-course.json, beside go.mod.

Type the number of your prediction; Enter skips the question, and goes on wherever a terminal
pauses; q stops, and so does the end of the input. Exit code: 0, also if you stop; 2 trouble.`,
		Example:     "  lockstep course\n  lockstep course 3\n  lockstep course --list\n  lockstep course --lang zh",
		Args:        cobra.MaximumNArgs(1),
		Annotations: map[string]string{noSettings: "each lesson has its own"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCourse(cmd, args, in, reset, list)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&reset, "reset", false, "forget what you predicted, and begin with the first lesson")
	flags.BoolVar(&list, "list", false, "list the lessons, and which you have been through")
	addLanguageFlag(cmd, &in)
	return cmd
}

func runCourse(cmd *cobra.Command, args []string, in language.Language, reset, list bool) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	typed, out := cmd.Root().CommandPath(), cmd.OutOrStdout()
	pupil, err := course.NewPupil(dir, course.Terminal{
		In: in, Typed: typed, Again: cmd.CommandPath() + langTyped(cmd),
		Out: out, Echoes: isTerminal(out), Columns: columnsOf(out),
		Run: func(ctx context.Context, args []string) bool {
			sub, _, err := newRoot(typed).Find(args) // it finds the user's language as this command has
			if err == nil && cmd.Flags().Changed("lang") && sub.Flags().Lookup("lang") != nil && !slices.Contains(args, "--lang") {
				args = append(args, "--lang", string(in))
			}
			return Program{Name: typed, In: strings.NewReader("")}.run(ctx, args, out, cmd.ErrOrStderr()) != exitTrouble
		},
	})
	if err == nil && reset {
		err = pupil.Reset()
	}
	if err != nil {
		return err
	}
	if list {
		pupil.List()
		return nil
	}
	answers, broken := lines(cmd.Context(), cmd.InOrStdin())
	err = pupil.Take(cmd.Context(), answers, strings.Join(args, ""))
	return errors.Join(err, broken())
}

// columnsOf returns how wide the text of a lesson is.
func columnsOf(out io.Writer) int {
	if columns := width(out); columns > 0 {
		return min(columns, helpWidth)
	}
	return helpWidth
}
