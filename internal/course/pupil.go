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

// skipped is the choice of a learner who has made none.
const skipped = 0

// Pupil is somebody who takes the course in a terminal.
type Pupil struct {
	lessons     []Lesson
	store       *exercise.ProgressStore
	predictions map[string]string // as they are in the store
	terminal    Terminal
	answers     <-chan string
}

// Terminal is where the course is taken.
type Terminal struct {
	In      language.Language
	Typed   string // the program, as it was typed
	Again   string // the command that goes on with the course
	Out     io.Writer
	Echoes  bool // what is typed stands on Out already
	Columns int

	// Run runs a command of a lesson, and reports whether it could.
	Run func(ctx context.Context, args []string) bool
}

// NewPupil returns the pupil whose progress is in the clone that a directory is in; or in the directory itself, as a program that was
// built runs anywhere.
func NewPupil(dir string, terminal Terminal) (*Pupil, error) {
	lessons, err := Lessons(docs.Course(), terminal.In)
	if err != nil {
		return nil, err
	}
	if root, err := exercise.FindRoot(dir); err == nil {
		dir = root
	}
	store := exercise.ProgressIn(dir)
	now, err := store.Load()
	return &Pupil{lessons: lessons, store: store, predictions: now.Predictions, terminal: terminal}, err
}

// Reset forgets what was predicted.
func (p *Pupil) Reset() error {
	clear(p.predictions)
	return p.store.Update(func(now *exercise.Progress) { clear(now.Predictions) })
}

// next returns the number of the first lesson that the pupil has not been through; after the last one, there is none.
func (p *Pupil) next() int {
	for _, l := range p.lessons {
		if _, done := p.chosen(l.Name); !done {
			return l.Number
		}
	}
	return len(p.lessons) + 1
}

// Take goes on from the lesson that was asked for, or else from the first that is new, until the last, or until the pupil stops. Answers
// are the lines that the pupil types.
func (p *Pupil) Take(ctx context.Context, answers <-chan string, asked string) error {
	p.answers = answers
	first := p.next()
	if asked != "" {
		var err error
		if first, err = strconv.Atoi(asked); err != nil || first < 1 || first > len(p.lessons) {
			return fmt.Errorf("%w: %q; there are 1 to %d", ErrNoLesson, asked, len(p.lessons))
		}
	}
	for n := first; n <= len(p.lessons); n++ {
		more, err := p.lesson(ctx, p.lessons[n-1])
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
		if choice, done := p.chosen(l.Name); done && choice == l.Answer {
			right++
		}
	}
	p.sayEnd(right)
	return nil
}

// lesson shows one lesson. More is false if the pupil stops.
func (p *Pupil) lesson(ctx context.Context, l Lesson) (more bool, err error) {
	p.sayTitle(l)
	p.tell("", l.Idea)
	choice, more := p.predict(ctx, l)
	if !more || !p.run(ctx, l) {
		return false, nil
	}
	p.sayAnswer(l, choice)
	if !p.pause(ctx, p.whyPrompt()) {
		return false, nil
	}
	p.tell("", l.Sections[Explain].Text)
	if !p.pause(ctx, p.restPrompt()) {
		return false, nil
	}
	for _, section := range l.Sections[Seat:] {
		p.tell(section.Heading, section.Text)
	}
	p.predictions[l.Name] = strconv.Itoa(choice)
	err = p.store.Update(func(now *exercise.Progress) { now.Predictions[l.Name] = strconv.Itoa(choice) })
	if err != nil && !errors.Is(err, exercise.ErrUnreadable) { // the course can go on
		p.sayForgotten(err)
		err = nil
	}
	return true, err
}

// chosen returns what the pupil predicted in a lesson; done is false if the pupil has not been through it.
func (p *Pupil) chosen(lesson string) (choice int, done bool) {
	prediction, done := p.predictions[lesson]
	choice, err := strconv.Atoi(prediction)
	return choice, done && err == nil
}

// plain writes a text for the terminal.
func (p *Pupil) plain(markdown string) string { return Plain(markdown, p.terminal.Columns) }

// tell prints a section.
func (p *Pupil) tell(heading, markdown string) {
	if heading != "" {
		fmt.Fprintf(p.terminal.Out, "── %s\n\n", heading)
	}
	typed := p.terminal.Typed
	asTyped := strings.NewReplacer("go run . ", typed+" ", "go run .`", typed+"`")
	fmt.Fprintf(p.terminal.Out, "%s\n\n", p.plain(asTyped.Replace(markdown)))
}

// predict asks the question until the answer is one of the choices.
func (p *Pupil) predict(ctx context.Context, l Lesson) (choice int, more bool) {
	p.tell(l.Sections[Predict].Heading, l.Sections[Predict].Text)
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

// prompt returns the next line that the pupil types. More is false if it is q, or if there is none.
func (p *Pupil) prompt(ctx context.Context, prompt string) (answer string, more bool) {
	fmt.Fprint(p.terminal.Out, prompt)
	select {
	case answer, more = <-p.answers:
	case <-ctx.Done():
	}
	if !more || !p.terminal.Echoes {
		fmt.Fprintln(p.terminal.Out, answer) // it does not stand there already
	}
	return answer, more && answer != "q"
}

// pause lets the pupil look at what a terminal shows before more comes and moves it away. More is false if the pupil stops.
func (p *Pupil) pause(ctx context.Context, prompt string) (more bool) {
	if !p.terminal.Echoes {
		return true
	}
	_, more = p.prompt(ctx, prompt)
	fmt.Fprintln(p.terminal.Out)
	return more
}

// run runs the command of a lesson. If it cannot, it shows what others saw. More is false if the pupil interrupts it.
func (p *Pupil) run(ctx context.Context, l Lesson) (more bool) {
	fmt.Fprintf(p.terminal.Out, "\n$ %s %s\n\n", p.terminal.Typed, l.Run)
	if !p.terminal.Run(ctx, Arguments(l.Run)) && ctx.Err() == nil {
		p.saySeen(l.Seen)
	}
	fmt.Fprintln(p.terminal.Out)
	return ctx.Err() == nil
}

// List lists the lessons.
func (p *Pupil) List() {
	for _, l := range p.lessons {
		mark := " "
		if choice, done := p.chosen(l.Name); done && choice == l.Answer {
			mark = "✓"
		} else if done {
			mark = "·"
		}
		fmt.Fprintf(p.terminal.Out, "%s %2d  %s\n", mark, l.Number, l.Title)
	}
	p.sayLegend()
}
