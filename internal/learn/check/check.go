// Package check takes a learner through the exercises: it checks what was written, gives hints and solutions, and remembers what is done.
// Begin with Learner.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/learn/progress"
	"lockstep/internal/learn/workshop"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/verdict"
)

// Learner is somebody who does the exercises.
type Learner struct {
	Checker workshop.Checker
	Store   *progress.Store
	In      language.Language
	JSON    func(document any) error // writes the one document that is wanted; nil: sentences are
	People  io.Writer                // who reads sentences
	Typed   string                   // the command as it was typed; hints begin with it

	watches bool
}

// At returns a learner of the module that a directory is in.
func At(dir string, in language.Language) (Learner, error) {
	root, err := workshop.FindRoot(dir)
	if err != nil {
		err = fmt.Errorf("check compiles the exercises: %w", err)
	}
	return Learner{Checker: workshop.Checker{Root: root}, Store: progress.In(root), In: in}, err
}

// ForgottenError says that what was asked for was printed, and could not be written down.
type ForgottenError struct{ error }

// Unwrap returns why it could not.
func (e ForgottenError) Unwrap() error { return e.error }

// The ways an exercise is not chosen.
var (
	ErrAllDone = errors.New("every exercise is done: name the one you mean")
	ErrUnknown = workshop.ErrUnknown
)

// IDs lists the exercises by number and name.
func IDs() []string { return workshop.Names() }

// Names lists the exercises by name.
func Names() (names []string) {
	for _, e := range workshop.All() {
		names = append(names, e.Name)
	}
	return names
}

// Choose returns the exercise that is named, or else the first that is not done.
func (l Learner) Choose(named ...string) (workshop.Exercise, error) {
	if len(named) > 0 {
		return workshop.Find(named[0])
	}
	p, err := l.Store.Load()
	if err != nil {
		return workshop.Exercise{}, err
	}
	next, left := firstNotDone(p)
	if !left {
		return next, ErrAllDone
	}
	return next, nil
}

// Check checks an exercise once, shows what was found, and remembers whether it is done. If that cannot be written down, it is a
// ForgottenError, beside the outcome.
func (l Learner) Check(ctx context.Context, e workshop.Exercise) (workshop.Outcome, error) {
	outcome, err := l.Checker.Check(ctx, e, e.Dir(), l.In)
	if err != nil {
		return outcome, err
	}
	after, err := l.remember(func(p *progress.Progress) {
		delete(p.Done, e.ID())
		if outcome.State == verdict.Done {
			p.Done[e.ID()] = true
		}
	}, language.Both("whether the exercise is done", "这一题是否完成"))
	if l.JSON != nil {
		return outcome, cmp.Or(l.JSON(outcome), err)
	}
	l.show(e, outcome, after)
	return outcome, err
}

// remember changes the learner's progress. If it cannot be written down, that is a ForgottenError, which says what is forgotten. Where the
// file cannot be read, after has no maps.
func (l Learner) remember(change func(*progress.Progress), what language.Text) (after progress.Progress, err error) {
	err = l.Store.Update(func(p *progress.Progress) {
		change(p)
		after = *p
	})
	if err != nil {
		err = ForgottenError{fmt.Errorf("%s%w", l.In.Say("%s was not written down: ", "没有记下%s：", what.In(l.In)), err)}
	}
	return after, err
}

func firstNotDone(p progress.Progress) (workshop.Exercise, bool) {
	for _, e := range workshop.All() {
		if !p.Done[e.ID()] {
			return e, true
		}
	}
	return workshop.Exercise{}, false
}

// say tells people.
func (l Learner) say(english, chinese string, values ...any) {
	fmt.Fprint(l.People, l.In.Say(english, chinese, values...))
}

func (l Learner) sayTitle(e workshop.Exercise) {
	l.say("Exercise %s: %s\n", "练习 %s：%s\n", e.ID(), e.Title.In(l.In))
}

// sayNext names the next exercise, and returns it.
func (l Learner) sayNext(p progress.Progress) (next workshop.Exercise, left bool) {
	if next, left = firstNotDone(p); left {
		l.say("\nNext: %s, %s. Edit %s/lock.go.\n", "\n下一题：%s，%s。请编辑 %s/lock.go。\n", next.ID(), next.Title.In(l.In), next.Dir())
	} else {
		l.say("\nEvery exercise is done.\n", "\n所有练习都已完成。\n")
	}
	return next, left
}

// show prints what a check found.
func (l Learner) show(e workshop.Exercise, o workshop.Outcome, p progress.Progress) {
	l.sayTitle(e)
	claim := e.Claim.In(l.In)
	switch {
	case o.State == verdict.Done:
		l.say("Done. %s\nNo schedule shows otherwise: %d schedules in %.1f s, with the compilation.\n",
			"完成。%s\n没有任何时序能推翻它：共 %d 个时序，连同编译用时 %.1f 秒。\n", claim, o.Schedules, o.Seconds)
		if p.Done != nil { // otherwise nobody knows what is done
			l.sayNext(p)
		}
	case o.State == verdict.NotYet && o.Anomaly == "":
		l.say("Not yet. The claim: %s\nNo schedule shows otherwise, but it was not put to the test: %s.\n",
			"还没有完成。要求：%s\n没有时序能推翻它，但也没有检验到：%s。\n", claim, o.Says)
	case o.State == verdict.NotYet:
		in, _ := explore.ParseScenario(o.Scenario) // it was one
		in.Language = l.In
		l.say("Not yet. The claim: %s\nThe shortest schedule that breaks it has %d steps. It shows %s: %s (%s).\n\n",
			"还没有完成。要求：%s\n打破它的最短时序有 %d 步，出现 %s：%s（%s）。\n\n",
			claim, o.Length, o.Anomaly, sentenceOf(o, in), cmp.Or(o.Scenario, l.In.Say("no fault", "没有故障")))
		fmt.Fprintln(l.People, o.Diagram)
		l.say("The schedule: %s\n", "时序：%s\n", o.Schedule)
		if !l.watches { // which says it at the end
			l.say("Edit %s/lock.go. Stuck? %s %s --hint\n", "请编辑 %s/lock.go。卡住了？%s %s --hint\n", e.Dir(), l.Typed, e.ID())
		}
	default:
		l.say("It cannot be said. %s\n\n%s\n", "无法判断。%s\n\n%s\n", o.Trouble().In(l.In), o.Says)
	}
}

// sentenceOf says what an anomaly is that a check found. What is a setting elsewhere has its value here.
func sentenceOf(o workshop.Outcome, in explore.Scenario) string {
	if found := explore.Anomaly(o.Anomaly); found != anomaly.Starved || in.MostOvertakes() != 1 {
		return explore.SentenceOf(found, in)
	}
	return in.Say("a sale is overtaken more than once by sales that asked after it", "一单被后来的请求插队超过一次")
}
