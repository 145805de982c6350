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

// Learner is somebody who does the exercises.
type Learner struct {
	Checker Checker
	Store   *ProgressStore
	In      language.Language
	JSON    func(document any) error // writes the one document that is wanted; nil: sentences are
	People  io.Writer                // who reads sentences
	Typed   string                   // the command as it was typed; hints begin with it

	watches bool
}

// At returns a learner of the module that a directory is in.
func At(dir string, in language.Language) (Learner, error) {
	root, err := FindRoot(dir)
	if err != nil {
		err = fmt.Errorf("check compiles the exercises: %w", err)
	}
	return Learner{Checker: Checker{Root: root}, Store: ProgressIn(root), In: in}, err
}

// ForgottenError says that what was asked for was printed, and could not be written down.
type ForgottenError struct{ error }

// Unwrap returns why it could not.
func (e ForgottenError) Unwrap() error { return e.error }

// ErrAllDone means that no exercise is left to be chosen.
var ErrAllDone = errors.New("every exercise is done: name the one you mean")

// Choose returns the exercise that is named, or else the first that is not done.
func (l Learner) Choose(named ...string) (Exercise, error) {
	if len(named) > 0 {
		return Find(named[0])
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

// Check checks an exercise once, shows what was found, and remembers whether it is done. If that cannot be written down, it is a
// ForgottenError, beside the outcome.
func (l Learner) Check(ctx context.Context, e Exercise) (Outcome, error) {
	outcome, err := l.Checker.Check(ctx, e, e.Dir(), l.In)
	if err != nil {
		return outcome, err
	}
	after, err := l.remember(func(p *Progress) {
		delete(p.Done, e.ID())
		if outcome.State == verdict.Done {
			p.Done[e.ID()] = true
		}
	}, resultText())
	if l.JSON != nil {
		return outcome, cmp.Or(l.JSON(outcome), err)
	}
	l.show(e, outcome, after)
	return outcome, err
}

// remember changes the learner's progress. If it cannot be written down, that is a ForgottenError, which says what is forgotten. Where the
// file cannot be read, after has no maps.
func (l Learner) remember(change func(*Progress), what language.Text) (after Progress, err error) {
	err = l.Store.Update(func(p *Progress) {
		change(p)
		after = *p
	})
	if err != nil {
		err = ForgottenError{fmt.Errorf("%s%w", forgottenSays(what, l.In), err)}
	}
	return after, err
}

func firstNotDone(p Progress) (Exercise, bool) {
	for _, e := range All() {
		if !p.Done[e.ID()] {
			return e, true
		}
	}
	return Exercise{}, false
}
