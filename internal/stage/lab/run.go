package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/trace"
	"lockstep/internal/watch/witness"
)

// longest is how long a lab may take, on a slow machine.
const longest = 60 * time.Second

// Play is how a lab is run.
type Play struct {
	Lock  string
	Redis Kind
	In    language.Language // that it is told in
	Tell  func(trace.Trace) // is told now and then what has happened so far; nil: nobody is
}

// Run runs the lab on the running service. An error is of the lab itself: where it cannot run at all, or ctx ended.
func (l Lab) Run(ctx context.Context, place Place, play Play) (Result, error) {
	if err := errors.Join(l.Check(play.Lock, play.In), l.FitsInto(place)); err != nil {
		return Result{}, err
	}
	kind := play.Redis
	if l.Real {
		kind = Real
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, longest, errTooLong)
	defer cancel()
	result, err := l.play(limited, place, kind, play)
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
func (l Lab) play(ctx context.Context, place Place, kind Kind, p Play) (r Result, err error) {
	s, err := setUp(ctx, l.Shop, place, p.Lock, kind)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = s.tearDown() }() // after a panic, too
	if p.Tell != nil {
		s.running.Go(func() { printProgress(s, p, l.Draws) })
	}
	l.Scenario(s)
	r = l.judge(p.Lock, witness.Examine(s.collected.Events()), s.err, p.In)
	r.Answers = s.answers()
	return r, nil
}

// toldEvery is the pace in which a run that goes on is told.
const toldEvery = 250 * time.Millisecond

// printProgress tells what has happened so far, until the stage comes down.
func printProgress(s *Stage, p Play, draws int) {
	told, pace := 0, time.NewTicker(toldEvery)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
		case <-s.ctx.Done():
			return
		}
		if events := s.collected.Events(); len(events) > told {
			told = len(events)
			drawn, _ := witness.Examine(events).Trace(p.In).First(draws)
			if len(drawn.Steps) > 0 && len(drawn.Actors) > 0 { // else there is nothing to draw yet
				p.Tell(drawn)
			}
		}
	}
}
