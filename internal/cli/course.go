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

// newCourse returns the course command.
func newCourse() *cobra.Command {
	var lang language.Language
	var reset, list bool
	cmd := &cobra.Command{
		Use:   "course [N]",
		Short: "Take the course: predict, run, and read why",
		Long: `course goes through the lessons of docs/course in the terminal. It asks what you expect, runs the
command of the lesson, and explains whether you were right, and why. It continues where you stopped,
or with lesson N. Your progress is stored in .lockstep-course.json, beside go.mod.

Type the number of your prediction. Enter skips the question, and continues after a pause; q, or the
end of the input, stops the course. Exit code: 0, even if you stop; 2 after an error.`,
		Example:     "  lockstep course\n  lockstep course 3\n  lockstep course --list\n  lockstep course --lang zh",
		Args:        cobra.MaximumNArgs(1),
		Annotations: map[string]string{noSettings: "each lesson has its own"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCourse(cmd, args, lang, reset, list)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&reset, "reset", false, "delete your predictions and start with the first lesson")
	flags.BoolVar(&list, "list", false, "list the lessons and your progress")
	addLanguageFlag(cmd, &lang)
	return cmd
}

// runCourse runs the course command.
func runCourse(cmd *cobra.Command, args []string, lang language.Language, reset, list bool) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	typed, out := cmd.Root().CommandPath(), cmd.OutOrStdout()
	pupil, err := course.NewPupil(dir, course.Terminal{
		In: lang, Typed: typed, ResumeCommand: cmd.CommandPath() + langTyped(cmd),
		Out: out, Echoes: isTerminal(out), Columns: lessonWidth(out),
		Run: func(ctx context.Context, args []string) bool {
			sub, _, err := newRoot(typed).Find(args) // Without --lang it finds the user's language as this command did.
			if err == nil && cmd.Flags().Changed("lang") && sub.Flags().Lookup("lang") != nil && !slices.Contains(args, "--lang") {
				args = append(args, "--lang", string(lang))
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
	answers, readErr := readLines(cmd.Context(), cmd.InOrStdin())
	err = pupil.Take(cmd.Context(), answers, strings.Join(args, ""))
	return errors.Join(err, readErr())
}

// lessonWidth returns the width of a lesson's text in columns: at most helpWidth.
func lessonWidth(out io.Writer) int {
	if columns := terminalWidth(out); columns > 0 {
		return min(columns, helpWidth)
	}
	return helpWidth
}
