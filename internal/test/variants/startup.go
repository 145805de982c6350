package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// startup are locks that look at the memory of their process, and act on it only after a command: two sales of one process can both
// look before either acts.
func startup() []Variant {
	oneProcess := explore.Scenario{Replicas: 1}
	return []Variant{
		{
			Name: "a flag read at the start", Lock: polls(flagAtTheStart), Scenario: oneProcess, Shows: anomaly.TwoHolders,
		},
		{
			Name: "a flag read on waking", Lock: polls(flagOnWaking), Scenario: oneProcess, Shows: anomaly.TwoHolders,
		},
		{
			Name: "a flag read by two who are woken at once", Lock: ofTake(wokenTogether),
			Scenario: explore.Scenario{Actors: 3, Replicas: 1}, Shows: anomaly.TwoHolders, Steps: 4,
		},
		{Name: "one sale asks for all", Lock: polls(oneAsksForAll), Scenario: oneProcess, Shows: anomaly.TwoHolders, Steps: 6},
		{Name: "a flag read between two commands", Lock: polls(flagBetween), Scenario: oneProcess, Shows: anomaly.TwoHolders, Steps: 6},
		{Name: "reentrant by process", Lock: polls(reentrantByProcess), Scenario: oneProcess, Shows: anomaly.TwoHolders, Steps: 5},
	}
}

// flagged asks for the lock while the flag is up, and otherwise takes it without asking; the flag goes up once the reply is there.
func flagged(p process, up *bool) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		attempt := noNX
		if *up {
			attempt = setNX
		}
		_, err := attempt(p)(ctx, owner)
		*up = *up || err == nil
		return func(ctx context.Context) error {
			*up = false
			return p.release(owner)(ctx)
		}, err
	}
}

func flagAtTheStart(p process) ask { return flagged(p, new(bool)) }

func flagOnWaking(p process) ask {
	attempt := flagged(p, new(bool))
	return func(ctx context.Context, owner string) (unlock, error) {
		if err := lock.Sleep(ctx, p.Clock, 5*time.Millisecond); err != nil {
			return nil, err
		}
		return attempt(ctx, owner)
	}
}

func flagBetween(p process) ask {
	attempt := flagged(p, new(bool))
	return func(ctx context.Context, owner string) (unlock, error) {
		if _, err := p.number(ctx, "EXISTS", key); err != nil {
			return nil, err
		}
		return attempt(ctx, owner)
	}
}

// oneAsksForAll lets the sales of a process in one after the other once one of them has obtained the lock; two who both are that one
// do not see each other.
func oneAsksForAll(p process) ask {
	inside, obtained := 0, false
	return func(ctx context.Context, _ string) (unlock, error) {
		switch {
		case inside > 0:
			return nil, lock.ErrNotObtained
		case !obtained:
			err := p.take(ctx, p.Process)
			if held, _ := p.text(ctx, "GET", key); held != p.Process {
				return nil, errors.Join(err, lock.ErrNotObtained)
			}
			obtained = true
		}
		inside++
		return func(ctx context.Context) error {
			inside--
			obtained = false
			return p.release(p.Process)(ctx)
		}, nil
	}
}

// reentrantByProcess takes another sale of its process for itself.
func reentrantByProcess(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) {
		err := p.take(ctx, lock.Owner(p.Process))
		if errors.Is(err, lock.ErrNotObtained) {
			holder, failed := p.text(ctx, "GET", key)
			err = failed
			if failed == nil {
				err = obtained(holder == lock.Owner(p.Process))
			}
		}
		return p.release(lock.Owner(p.Process)), err
	}
}

// wokenTogether wakes all waiters of the process at once. Each sees that the flag is down, and takes the lock without asking.
func wokenTogether(p process) take {
	up, down := false, make(chan struct{})
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		for up {
			if err := p.Clock.Wait(ctx, down); err != nil {
				return nil, err
			}
		}
		if err := p.set(ctx, owner, "PX", p.ttl); err != nil {
			return nil, err
		}
		up = true
		return p.lease(ctx, func(ctx context.Context) error {
			err := p.release(owner)(ctx)
			up = false
			close(down)
			down = make(chan struct{})
			return err
		}), nil
	}
}
