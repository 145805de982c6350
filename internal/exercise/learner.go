package exercise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Learner does the exercises. Its methods print to People, or call JSON.
type Learner struct {
	Checker Checker                  // checks the learner's code
	Store   *ProgressStore           // stores the progress
	In      language.Language        // language of the messages
	JSON    func(document any) error // writes the result as a document; nil: People gets sentences
	People  io.Writer                // receives the sentences
	Typed   string                   // command as the learner typed it, such as "lockstep check"

	watches bool // Watch is running, so outcomes need no hint to run the next check
}

// LearnerIn returns a learner whose module is the clone that contains dir. It returns ErrNoModule if there is none.
func LearnerIn(dir string, in language.Language) (Learner, error) {
	root, err := FindRoot(dir)
	if err != nil {
		err = language.Translate(fmt.Errorf("check compiles the exercises: %w", err), "check 要编译练习：%s", language.TextOf(err, language.Chinese))
	}
	return Learner{Checker: Checker{Root: root}, Store: ProgressIn(root), In: in}, err
}

// ForgottenError is returned if the result was printed and the progress could not be saved.
type ForgottenError struct{ error }

// Unwrap returns the cause.
func (e ForgottenError) Unwrap() error { return e.error }

// ErrAllDone is returned by Choose if no exercise is named and all are done.
var ErrAllDone = language.Translate(errors.New("every exercise is done: name the one you mean"), "所有练习都完成了：请指定一题")

// Choose returns the exercise with a key of Find. Without a key, it returns the first exercise that is not done, or ErrAllDone.
func (l Learner) Choose(key ...string) (Exercise, error) {
	if len(key) > 0 {
		return Find(key[0])
	}
	p, err := l.Store.Load()
	if err != nil {
		return Exercise{}, err
	}
	next, left := firstNotDone(p)
	if !left {
		return next, ErrAllDone
	}
	return next, nil
}

// Check checks an exercise once, prints the outcome, and saves whether the exercise is done. If that cannot be saved, Check returns the
// outcome and a ForgottenError.
func (l Learner) Check(ctx context.Context, e Exercise) (Outcome, error) {
	outcome, err := l.Checker.Check(ctx, e, e.Dir(), l.In)
	if err != nil {
		return outcome, err
	}
	after, err := l.updateProgress(func(p *Progress) {
		delete(p.Done, e.ID())
		if outcome.State == verdict.Done {
			p.Done[e.ID()] = true
		}
	}, resultText())
	if l.JSON != nil {
		return outcome, cmp.Or(l.JSON(outcome), err)
	}
	l.sayOutcome(e, outcome, after)
	return outcome, err
}

// updateProgress changes the learner's progress, and returns the changed progress. If it cannot be saved, updateProgress returns a
// ForgottenError that names what is lost. If the file cannot be read, the maps of after are nil.
func (l Learner) updateProgress(change func(*Progress), what language.Text) (after Progress, err error) {
	err = l.Store.Update(func(p *Progress) {
		change(p)
		after = *p
	})
	if err != nil {
		err = ForgottenError{fmt.Errorf("%s%w", notSavedText(what, l.In), err)}
	}
	return after, err
}

// firstNotDone returns the first exercise that is not done; false if all are done.
func firstNotDone(p Progress) (Exercise, bool) {
	for _, e := range All() {
		if !p.Done[e.ID()] {
			return e, true
		}
	}
	return Exercise{}, false
}
