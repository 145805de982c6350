package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/docs"
	"lockstep/internal/language"
	"lockstep/internal/learn/course"
	"lockstep/internal/learn/progress"
	"lockstep/internal/learn/workshop"
)

// skipped is the choice of a learner who has made none.
const skipped = 0

func newCourse() *cobra.Command {
	var in language.Language
	var reset, list bool
	cmd := &cobra.Command{
		Use:   "course [N]",
		Short: "Take the course: predict, run, see, and read why",
		Long: `course goes through the lessons of docs/course in the terminal. It asks what you expect, runs the
command of the lesson, and says whether you were right, and why. It goes on where you left, or with
lesson N. Your progress is in ` + progress.FileName + `, beside go.mod.

Type the number of your prediction; Enter skips the question; q stops, and so does the end of the
input. Exit code: 0, also if you stop; 2 trouble.`,
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
	speaks(cmd, &in)
	return cmd
}

func runCourse(cmd *cobra.Command, args []string, in language.Language, reset, list bool) error {
	lessons, err := course.Lessons(docs.Course(), in)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if root, err := workshop.FindRoot(dir); err == nil {
		dir = root // of the clone; a program that was built runs anywhere
	}
	store := progress.In(dir)
	if reset {
		if err := store.Update(func(p *progress.Progress) { clear(p.Predictions) }); err != nil {
			return err
		}
	}
	now, err := store.Load()
	if err != nil {
		return err
	}
	c := pupil{
		lessons: lessons, store: store, predictions: now.Predictions, in: in, words: courseWordsIn(in),
		typed: cmd.Root().CommandPath(), again: cmd.CommandPath() + langTyped(cmd),
		out: cmd.OutOrStdout(), errs: cmd.ErrOrStderr(), columns: columnsOf(cmd.OutOrStdout()),
	}
	if list {
		c.list()
		return nil
	}
	first := c.next()
	if len(args) > 0 {
		if first, err = strconv.Atoi(args[0]); err != nil || first < 1 || first > len(lessons) {
			return fmt.Errorf("%w: %q; there are 1 to %d", course.ErrNoLesson, args[0], len(lessons))
		}
	}
	c.answers = lines(cmd.Context(), cmd.InOrStdin())
	return c.teach(cmd.Context(), first)
}

// columnsOf is how wide the text of a lesson is.
func columnsOf(out io.Writer) int {
	if columns := width(out); columns > 0 {
		return min(columns, helpWidth)
	}
	return helpWidth
}

// pupil is the course as one learner takes it.
type pupil struct {
	lessons     []course.Lesson
	store       *progress.Store
	predictions map[string]string // as they are in the store
	in          language.Language
	words       courseWords
	typed       string // the program, as it was typed
	again       string // the command that goes on with the course
	answers     <-chan string
	out         io.Writer
	errs        io.Writer
	columns     int
}

// next is the number of the first lesson that the learner has not been through; after the last one, there is none.
func (c *pupil) next() int {
	for _, l := range c.lessons {
		if _, done := c.chosen(l.Name); !done {
			return l.Number
		}
	}
	return len(c.lessons) + 1
}

// teach goes on from a lesson until the last, or until the learner stops.
func (c *pupil) teach(ctx context.Context, first int) error {
	for n := first; n <= len(c.lessons); n++ {
		more, err := c.lesson(ctx, c.lessons[n-1])
		if err != nil {
			return err
		}
		if more && n < len(c.lessons) {
			_, more = c.ask(ctx, c.words.goOn)
		}
		if !more {
			fmt.Fprintf(c.out, c.words.stopped, c.again)
			return nil
		}
	}
	right := 0
	for _, l := range c.lessons {
		if choice, done := c.chosen(l.Name); done && choice == l.Answer {
			right++
		}
	}
	fmt.Fprintf(c.out, c.words.finished, right, len(c.lessons), c.again)
	return nil
}

// lesson shows one lesson. More is false if the learner stops.
func (c *pupil) lesson(ctx context.Context, l course.Lesson) (more bool, err error) {
	fmt.Fprintf(c.out, c.words.title, l.Number, len(c.lessons), l.Title)
	c.tell("", l.Idea)
	choice, more := c.predict(ctx, l)
	if !more {
		return false, nil
	}
	if !c.run(ctx, l) {
		return false, nil
	}
	switch choice {
	case skipped:
		fmt.Fprintf(c.out, c.words.answer, l.Answer, course.Plain(l.Choices[l.Answer-1], c.columns))
	case l.Answer:
		fmt.Fprintf(c.out, c.words.right, l.Answer)
	default:
		fmt.Fprintf(c.out, c.words.wrong, choice, l.Answer, course.Plain(l.Choices[l.Answer-1], c.columns))
	}
	c.tell("", l.Why)
	c.tell(c.words.seat, l.Seat)
	c.tell(c.words.try, l.Try)
	c.tell(c.words.broken, l.Broken)
	c.predictions[l.Name] = strconv.Itoa(choice)
	return true, c.store.Update(func(p *progress.Progress) { p.Predictions[l.Name] = strconv.Itoa(choice) })
}

// chosen gives what the learner predicted in a lesson; done is false if the learner has not been through it.
func (c *pupil) chosen(lesson string) (choice int, done bool) {
	prediction, done := c.predictions[lesson]
	choice, err := strconv.Atoi(prediction)
	return choice, done && err == nil
}

// tell prints a section.
func (c *pupil) tell(heading, markdown string) {
	if heading != "" {
		fmt.Fprintf(c.out, "── %s\n\n", heading)
	}
	asTyped := strings.NewReplacer(goRun+" ", c.typed+" ", goRun+"`", c.typed+"`")
	fmt.Fprintf(c.out, "%s\n\n", course.Plain(asTyped.Replace(markdown), c.columns))
}

// predict asks the question until the answer is one of the choices.
func (c *pupil) predict(ctx context.Context, l course.Lesson) (choice int, more bool) {
	c.tell(c.words.predict, l.Question)
	for i, text := range l.Choices {
		fmt.Fprintf(c.out, "  %d  %s\n", i+1, course.Plain(text, c.columns))
	}
	fmt.Fprintln(c.out)
	for {
		answer, more := c.ask(ctx, fmt.Sprintf(c.words.yours, len(l.Choices)))
		if !more || answer == "" {
			return skipped, more
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(l.Choices) {
			return n, true
		}
		fmt.Fprintf(c.out, c.words.noChoice, answer, len(l.Choices))
	}
}

// ask gives the next line that the learner types. More is false if it is q, or if there is none.
func (c *pupil) ask(ctx context.Context, prompt string) (answer string, more bool) {
	fmt.Fprint(c.out, prompt)
	select {
	case answer, more = <-c.answers:
	case <-ctx.Done():
	}
	if !more || !isTerminal(c.out) {
		fmt.Fprintln(c.out, answer) // it does not stand there already
	}
	return answer, more && answer != "q"
}

// run runs the command of a lesson. If it cannot, it shows what others saw. More is false if the learner interrupts it.
func (c *pupil) run(ctx context.Context, l course.Lesson) (more bool) {
	args := course.Arguments(l.Run)
	fmt.Fprintf(c.out, "\n$ %s %s\n\n", c.typed, l.Run)
	if sub, _, err := newRoot(c.typed).Find(args); err == nil && sub.Flags().Lookup("lang") != nil && !slices.Contains(args, "--lang") {
		args = append(args, "--lang", string(c.in))
	}
	program := Program{Name: c.typed, In: strings.NewReader("")}
	if code := program.Run(ctx, args, c.out, c.errs); code == exitTrouble && ctx.Err() == nil {
		fmt.Fprintf(c.out, "%s\n\n%s", c.words.noRun, l.Seen)
	}
	fmt.Fprintln(c.out)
	return ctx.Err() == nil
}

// list lists the lessons.
func (c *pupil) list() {
	for _, l := range c.lessons {
		mark := " "
		if choice, done := c.chosen(l.Name); done && choice == l.Answer {
			mark = "✓"
		} else if done {
			mark = "·"
		}
		fmt.Fprintf(c.out, "%s %2d  %s\n", mark, l.Number, l.Title)
	}
	fmt.Fprint(c.out, c.words.marks)
}
