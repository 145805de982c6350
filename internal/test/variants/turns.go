package variants

import (
	"context"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// wrongTurns are locks whose process keeps its own line of sales, and hands the turn to the first. That may leave at this very moment.
func wrongTurns() []Variant {
	return []Variant{
		{Name: "a turn handed to a sale that leaves", Lock: inLine(false), Scenario: three("cancel"), Shows: anomaly.Stuck, Steps: 9},
		{Name: "a turn handed to a sale that times out", Lock: inLine(false), Scenario: three("timeout"), Shows: anomaly.Stuck, Steps: 9},
	}
}

func rightTurns() []Variant {
	return []Variant{
		{Name: "a turn that a sale passes on when it leaves", Lock: inLine(true), Scenario: three("cancel")},
		{Name: "a turn that a sale passes on when it times out", Lock: inLine(true), Scenario: three("timeout")},
	}
}

// three is once for three sales of one process.
func three(fault string) explore.Scenario {
	s := once(fault)
	s.Actors, s.Replicas = 3, 1
	return s
}

// ownLine is a line of sales; each waits for a message of its own.
type ownLine struct {
	process

	busy    bool
	waiting []chan struct{}
	passes  bool // a turn on that came too late
}

func inLine(passes bool) strategy.Strategy {
	return ofTake(func(p process) take {
		l := ownLine{process: p, passes: passes}
		return l.take
	})
}

func (l *ownLine) take(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	_, err := lock.Poll(ctx, l.Options, func() (struct{}, error) { return struct{}{}, l.process.take(ctx, owner) })
	if err != nil {
		l.leave()
		return nil, err
	}
	return l.lease(ctx, func(ctx context.Context) error {
		defer l.leave()
		return l.release(owner)(ctx)
	}), nil
}

func (l *ownLine) enter(ctx context.Context) error {
	if !l.busy {
		l.busy = true
		return nil
	}
	wait, stop := lock.WithTimeout(ctx, l.Clock, l.WaitTimeout, lock.ErrTimeout)
	defer stop()
	turn := make(chan struct{}, 1)
	l.waiting = append(l.waiting, turn)
	if l.Clock.Wait(wait, turn) == nil {
		return nil
	}
	if i := slices.Index(l.waiting, turn); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	} else if l.passes {
		l.leave()
	}
	return lock.WaitError(wait, l.WaitTimeout)
}

func (l *ownLine) leave() {
	if l.busy = len(l.waiting) > 0; l.busy {
		first := l.waiting[0]
		l.waiting = l.waiting[1:]
		first <- struct{}{}
	}
}
