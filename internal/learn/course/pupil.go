package course

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lockstep/docs"
	"lockstep/internal/language"
	"lockstep/internal/learn/progress"
	"lockstep/internal/learn/workshop"
)

// skipped is the choice of a learner who has made none.
const skipped = 0

// Pupil is somebody who takes the course in a terminal.
type Pupil struct {
	lessons     []Lesson
	store       *progress.Store
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
	if root, err := workshop.FindRoot(dir); err == nil {
		dir = root
	}
	store := progress.In(dir)
	now, err := store.Load()
	return &Pupil{lessons: lessons, store: store, predictions: now.Predictions, terminal: terminal}, err
}

// Reset forgets what was predicted.
func (p *Pupil) Reset() error {
	clear(p.predictions)
	return p.store.Update(func(now *progress.Progress) { clear(now.Predictions) })
}

// say tells the pupil.
func (p *Pupil) say(english, chinese string, values ...any) {
	fmt.Fprint(p.terminal.Out, p.terminal.In.Say(english, chinese, values...))
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
			_, more = p.prompt(ctx, p.terminal.In.Say("Enter goes on with the next lesson, q stops: ", "回车继续下一课，q 退出："))
		}
		if !more {
			p.say("\nGo on another time with: %s\n", "\n下次从这里继续：%s\n", p.terminal.Again)
			return nil
		}
	}
	right := 0
	for _, l := range p.lessons {
		if choice, done := p.chosen(l.Name); done && choice == l.Answer {
			right++
		}
	}
	p.say("That was the course: %d predictions of %d were right. Once more: %s --reset\n",
		"课程结束：预测对了 %d 课，共 %d 课。从头再来：%s --reset\n", right, len(p.lessons), p.terminal.Again)
	return nil
}

// lesson shows one lesson. More is false if the pupil stops.
func (p *Pupil) lesson(ctx context.Context, l Lesson) (more bool, err error) {
	p.say("═══ Lesson %d of %d: %s\n\n", "═══ 第 %d 课，共 %d 课：%s\n\n", l.Number, len(p.lessons), l.Title)
	p.tell("", l.Idea)
	choice, more := p.predict(ctx, l)
	if !more || !p.run(ctx, l) {
		return false, nil
	}
	right := p.plain(l.Choices[l.Answer-1])
	switch choice {
	case skipped:
		p.say("The answer is %d: %s\n\n", "答案是 %d：%s\n\n", l.Answer, right)
	case l.Answer:
		p.say("Right: %d.\n\n", "猜对了，是 %d。\n\n", l.Answer)
	default:
		p.say("You said %d; the answer is %d: %s\n\n", "你猜的是 %d，答案是 %d：%s\n\n", choice, l.Answer, right)
	}
	p.tell("", l.Sections[Explain].Text)
	for _, section := range l.Sections[Seat:] {
		p.tell(section.Heading, section.Text)
	}
	p.predictions[l.Name] = strconv.Itoa(choice)
	err = p.store.Update(func(now *progress.Progress) { now.Predictions[l.Name] = strconv.Itoa(choice) })
	if err != nil && !errors.Is(err, progress.ErrUnreadable) { // the course can go on
		p.say("That you have been through this lesson was not written down: %v\n\n", "没有记下学过这一课：%v\n\n", err)
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
		answer, more := p.prompt(ctx, p.terminal.In.Say("Your prediction (1–%d; Enter skips, q stops): ", "你的预测（1–%d；回车跳过，q 退出）：",
			len(l.Choices)))
		if !more || answer == "" {
			return skipped, more
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(l.Choices) {
			return n, true
		}
		p.say("There is no choice %q: type 1 to %d.\n", "没有 %q 这个选项：请输入 1 到 %d。\n", answer, len(l.Choices))
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

// run runs the command of a lesson. If it cannot, it shows what others saw. More is false if the pupil interrupts it.
func (p *Pupil) run(ctx context.Context, l Lesson) (more bool) {
	fmt.Fprintf(p.terminal.Out, "\n$ %s %s\n\n", p.terminal.Typed, l.Run)
	if !p.terminal.Run(ctx, Arguments(l.Run)) && ctx.Err() == nil {
		p.say("The command could not be run here. This is what it prints:\n\n%s", "这条命令在这里没有运行成功。它应当打印：\n\n%s", l.Seen)
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
	p.say("✓ predicted   · been through\n", "✓ 预测正确   · 学过\n")
}
