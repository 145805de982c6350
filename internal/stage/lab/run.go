package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/watch/witness"
)

// longest is how long a lab may take, on a slow machine.
const longest = 60 * time.Second

// Run runs the lab with one lock. An error is of the lab itself: where it cannot run at all, or ctx ended.
func (l Lab) Run(ctx context.Context, program, lock string, kind Kind) (Result, error) {
	if err := l.Check(lock); err != nil {
		return Result{}, err
	}
	if l.Unix && !canStop {
		return Result{}, ErrNoSignals
	}
	if l.Real {
		kind = Real
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, longest, errTooLong)
	defer cancel()
	stage, err := setUp(limited, l.Shop, program, lock, kind)
	if err != nil {
		return Result{}, fmt.Errorf("lab %s: %w", l.Name, err)
	}
	events, answers, failed, err := l.play(stage)
	if err != nil {
		return Result{}, fmt.Errorf("lab %s: %w", l.Name, err)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	result := l.judge(lock, witness.Examine(events), answers, time.Since(began), failed)
	result.Redis = string(kind)
	if kind == Real {
		result.Command += " --redis real"
	}
	return result, nil
}

// play runs the scenario, and gives what happened, what the buyers were told, and why it failed. An error is of the stage: that it does
// not come down.
func (l Lab) play(s *Stage) (events []witness.Event, answers []Answer, failed, err error) {
	defer func() { err = s.tearDown() }() // after a panic, too
	l.Scenario(s)
	return s.collected.Events(), s.answers(), s.err, nil
}

// Locks are those that a lab is run with if nobody says which: the step that shows the flaw, and the one that cures it.
func (l Lab) Locks() []string {
	if l.Shows == "" {
		return []string{l.Cured}
	}
	return []string{l.Shows, l.Cured}
}

// IsUnavailable reports whether a lab could not be run for what this machine does not have.
func IsUnavailable(err error) bool { return errors.Is(err, ErrNoRedis) || errors.Is(err, ErrNoSignals) }
