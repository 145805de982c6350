package course

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lockstep/docs"
	"lockstep/internal/exercise"
	"lockstep/internal/language"
)

// skipped is the stored choice of a pupil who has skipped the question.
const skipped = 0

// Pupil takes the course in a terminal. Take runs the course.
type Pupil struct {
	lessons     []Lesson
	store       *exercise.ProgressStore
	predictions map[string]string // choice by name of the lesson, as in Progress.Predictions
	terminal    Terminal
	answers     <-chan string // lines that the pupil types
}

// Terminal is the terminal in which a pupil takes the course.
type Terminal struct {
	In            language.Language // language of the texts
	Typed         string            // name of the program as the pupil typed it
	ResumeCommand string            // command that continues the course
	Out           io.Writer         // receives the texts
	Echoes        bool              // Out already shows what the pupil types: it is a terminal, not a pipe
	Columns       int               // width at which texts are wrapped

	// Run runs a command of a lesson, and reports whether it succeeded.
	Run func(ctx context.Context, args []string) bool
}

// NewPupil returns a pupil with the progress that is stored in the clone that contains dir. Outside a clone, where a built program also
// runs, the progress is stored in dir itself.
func NewPupil(dir string, terminal Terminal) (*Pupil, error) {
	lessons, err := Lessons(docs.Course(), terminal.In)
	if err != nil {
		return nil, err
	}
	if root, err := exercise.FindRoot(dir); err == nil {
		dir = root
	}
	store := exercise.ProgressIn(dir)
	progress, err := store.Load()
	return &Pupil{lessons: lessons, store: store, predictions: progress.Predictions, terminal: terminal}, err
}

// Reset deletes the predictions, so that the course starts over.
func (p *Pupil) Reset() error {
	clear(p.predictions)
	return p.store.Update(func(progress *exercise.Progress) { clear(progress.Predictions) })
}

// firstUnfinished returns the number of the first lesson that the pupil has not finished. If all are finished, it is the number of lessons
// plus one.
func (p *Pupil) firstUnfinished() int {
	for _, l := range p.lessons {
		if _, done := p.choice(l.Name); !done {
			return l.Number
		}
	}
	return len(p.lessons) + 1
}

// Take runs the course from the lesson with the number start to the last, or until the pupil stops. An empty start is the first lesson that
// is not finished. Answers are the lines that the pupil types. Take returns ErrNoLesson if there is no lesson start.
func (p *Pupil) Take(ctx context.Context, answers <-chan string, start string) error {
	p.answers = answers
	first := p.firstUnfinished()
	if start != "" {
		var err error
		if first, err = strconv.Atoi(start); err != nil || first < 1 || first > len(p.lessons) {
			return language.Translate(fmt.Errorf("%w: %q; there are 1 to %d", ErrNoLesson, start, len(p.lessons)),
				"没有“%s”这一课；可选：1 到 %d", start, len(p.lessons))
		}
	}
	for n := first; n <= len(p.lessons); n++ {
		more, err := p.teach(ctx, p.lessons[n-1])
		if err != nil {
			return err
		}
		if more && n < len(p.lessons) {
			_, more = p.prompt(ctx, p.nextPrompt())
		}
		if !more {
			p.sayStopped()
			return nil
		}
	}
	right := 0
	for _, l := range p.lessons {
		if choice, done := p.choice(l.Name); done && choice == l.Answer {
			right++
		}
	}
	p.sayEnd(right)
	return nil
}

// teach teaches one lesson, and stores the prediction. more is false if the pupil stops.
func (p *Pupil) teach(ctx context.Context, l Lesson) (more bool, err error) {
	p.sayTitle(l)
	p.printSection("", l.Idea)
	choice, more := p.predict(ctx, l)
	if !more || !p.run(ctx, l) {
		return false, nil
	}
	p.sayAnswer(l, choice)
	if !p.pause(ctx, p.whyPrompt()) {
		return false, nil
	}
	p.printSection("", l.Sections[Explain].Text)
	if !p.pause(ctx, p.restPrompt()) {
		return false, nil
	}
	for _, section := range l.Sections[Seat:] {
		p.printSection(section.Heading, section.Text)
	}
	p.predictions[l.Name] = strconv.Itoa(choice)
	err = p.store.Update(func(progress *exercise.Progress) { progress.Predictions[l.Name] = strconv.Itoa(choice) })
	if err != nil && !errors.Is(err, exercise.ErrUnreadable) { // Without a stored prediction, the course can go on.
		p.sayNotStored(err)
		err = nil
	}
	return true, err
}

// choice returns the choice of the pupil in a lesson; ok is false if the pupil has not finished it.
func (p *Pupil) choice(lesson string) (choice int, ok bool) {
	prediction, ok := p.predictions[lesson]
	choice, err := strconv.Atoi(prediction)
	return choice, ok && err == nil
}

// plain formats Markdown for the terminal.
func (p *Pupil) plain(markdown string) string { return Plain(markdown, p.terminal.Columns) }

// printSection prints a section of a lesson, with its commands as the pupil has to type them. An empty heading is left out.
func (p *Pupil) printSection(heading, markdown string) {
	if heading != "" {
		fmt.Fprintf(p.terminal.Out, "── %s\n\n", heading)
	}
	typed := p.terminal.Typed
	asTyped := strings.NewReplacer("go run . ", typed+" ", "go run .`", typed+"`")
	fmt.Fprintf(p.terminal.Out, "%s\n\n", p.plain(asTyped.Replace(markdown)))
}

// predict asks the question until the pupil types a choice, skips it or stops.
func (p *Pupil) predict(ctx context.Context, l Lesson) (choice int, more bool) {
	p.printSection(l.Sections[Predict].Heading, l.Sections[Predict].Text)
	for i, text := range l.Choices {
		fmt.Fprintf(p.terminal.Out, "  %d  %s\n", i+1, p.plain(text))
	}
	fmt.Fprintln(p.terminal.Out)
	for {
		answer, more := p.prompt(ctx, p.predictPrompt(len(l.Choices)))
		if !more || answer == "" {
			return skipped, more
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(l.Choices) {
			return n, true
		}
		p.sayNoChoice(answer, len(l.Choices))
	}
}

// prompt prints a prompt and returns the next line that the pupil types. more is false for "q", the end of the input, and the end of ctx.
func (p *Pupil) prompt(ctx context.Context, prompt string) (answer string, more bool) {
	fmt.Fprint(p.terminal.Out, prompt)
	select {
	case answer, more = <-p.answers:
	case <-ctx.Done():
	}
	if !more || !p.terminal.Echoes {
		fmt.Fprintln(p.terminal.Out, answer) // The terminal has not shown the line.
	}
	return answer, more && answer != "q"
}

// pause waits for the pupil to type Enter, so that the next text does not push the last one off the screen. It does not wait if Out is a
// pipe. more is false if the pupil stops.
func (p *Pupil) pause(ctx context.Context, prompt string) (more bool) {
	if !p.terminal.Echoes {
		return true
	}
	_, more = p.prompt(ctx, prompt)
	fmt.Fprintln(p.terminal.Out)
	return more
}

// run runs the command of a lesson. If the command fails, run prints the output from the lesson. more is false if the pupil interrupts it.
func (p *Pupil) run(ctx context.Context, l Lesson) (more bool) {
	fmt.Fprintf(p.terminal.Out, "\n$ %s %s\n\n", p.terminal.Typed, l.Run)
	if !p.terminal.Run(ctx, Arguments(l.Run)) && ctx.Err() == nil {
		p.saySeen(l.Seen)
	}
	fmt.Fprintln(p.terminal.Out)
	return ctx.Err() == nil
}

// List prints the lessons, with a mark on those that the pupil has finished.
func (p *Pupil) List() {
	for _, l := range p.lessons {
		mark := " "
		if choice, done := p.choice(l.Name); done && choice == l.Answer {
			mark = "✓"
		} else if done {
			mark = "·"
		}
		fmt.Fprintf(p.terminal.Out, "%s %2d  %s\n", mark, l.Number, l.Title)
	}
	p.sayLegend()
}
