package lab

import (
	"context"
	"fmt"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/replica"
	"lockstep/internal/watch/witness"
)

// longest is how long a lab may take, on a slow machine.
const longest = 60 * time.Second

// Run runs the lab on the running service with one lock, and tells of it in a language. An error is of the lab itself: where it cannot run
// at all, or ctx ended.
func (l Lab) Run(ctx context.Context, program, lock string, kind Kind, in language.Language) (Result, error) {
	if err := l.Check(lock, in); err != nil {
		return Result{}, err
	}
	if l.Unix && !replica.CanStop {
		return Result{}, replica.ErrNoSignals
	}
	if l.Real {
		kind = Real
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, longest, errTooLong)
	defer cancel()
	result, err := l.play(limited, program, lock, kind, in)
	if err != nil {
		return Result{}, fmt.Errorf("lab %s: %w", l.Name, err)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	result.Seconds, result.Redis = time.Since(began).Seconds(), string(kind)
	if kind == Real {
		result.Command += " --redis real"
	}
	return result, nil
}

// play runs the scenario on a stage of its own, and says what that has shown. An error is of the stage: that it does not go up, or down.
func (l Lab) play(ctx context.Context, program, lock string, kind Kind, in language.Language) (r Result, err error) {
	s, err := setUp(ctx, l.Shop, program, lock, kind)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = s.tearDown() }() // after a panic, too
	l.Scenario(s)
	r = l.judge(lock, witness.Examine(s.collected.Events()), s.err, in)
	r.Answers = s.answers()
	return r, nil
}
