package variants

import (
	"context"
	"errors"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

const channel = key + ":free"

// wakeups are waiters who wait for a message, and miss it, or believe it.
func wakeups() []Variant {
	three := explore.Scenario{Actors: 3}
	return []Variant{
		{Name: "listens after it has asked", Lock: ofTake(listensLate), Shows: anomaly.Stuck, Steps: 6},
		{Name: "listens, and does not poll", Lock: ofTake(listens), Scenario: once("lost-wake"), Shows: anomaly.Stuck, Steps: 8},
		{Name: "listens beside a dead holder", Lock: ofTake(listens), Scenario: once("crash"), Shows: anomaly.Stuck, Steps: 5},
		{Name: "takes any message for a grant", Lock: ofTake(believesTheBell), Scenario: three, Shows: anomaly.TwoHolders, Steps: 11},
		{
			Name: "takes an empty message for a grant", Lock: ofTake(believesAnEmptyMessage), Scenario: once("spurious-wake"),
			Shows: anomaly.TwoHolders,
		},
		{Name: "tells one of two waiters", Lock: ofTake(notifyingOne), Scenario: three, Shows: anomaly.Stuck, Steps: 14},
		{Name: "tells nobody when it gives up", Lock: ofTake(silentOnCancel), Scenario: once("cancel"), Shows: anomaly.Stuck, Steps: 6},
	}
}

// listen gives a channel that holds one token when a message came.
func (p process) listen(to string) (rung chan struct{}, stop func()) {
	rung = make(chan struct{}, 1)
	return rung, p.Notifier.Subscribe(to, func(string) {
		select {
		case rung <- struct{}{}:
		default: // it has rung already
		}
	})
}

// releaseAndTell gives the lock back, and tells those who wait.
func (p process) releaseAndTell(owner string) unlock {
	return p.giveBack(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
		redis.call('DEL', KEYS[1]) redis.call('PUBLISH', ARGV[2], 'free') return 1`, owner, channel)
}

// waits makes one attempt after the other, with a pause after each that failed.
func (p process) waits(ctx context.Context, owner string, attempt func() error, pause func() error) (*lock.Lease, error) {
	for {
		err := attempt()
		if err == nil {
			return p.lease(ctx, p.releaseAndTell(owner)), nil
		}
		if errors.Is(err, lock.ErrNotObtained) {
			err = pause()
		}
		if err != nil {
			return nil, err
		}
	}
}

// listens begins to listen before it asks.
func listens(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		rung, stop := p.listen(channel)
		defer stop()
		return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error { return p.Clock.Wait(ctx, rung) })
	}
}

// listensLate begins to listen after it has asked.
func listensLate(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error {
			rung, stop := p.listen(channel)
			defer stop()
			return p.Clock.Wait(ctx, rung)
		})
	}
}

// believesTheBell goes in when it is told, without asking.
func believesTheBell(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		rung, stop := p.listen(channel)
		defer stop()
		told := false
		return p.waits(ctx, owner, func() error {
			if told {
				return p.set(ctx, owner, "PX", p.ttl)
			}
			return p.take(ctx, owner)
		}, func() error {
			told = true
			return p.Clock.Wait(ctx, rung)
		})
	}
}

// believesAnEmptyMessage is told by the name of the one that is to go in; it forgets that a message without a name means nothing.
func believesAnEmptyMessage(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		told, message := make(chan struct{}, 1), ""
		defer p.Notifier.Subscribe(channel, func(m string) {
			message = m
			select {
			case told <- struct{}{}:
			default: // it has been told already
			}
		})()
		err := p.take(ctx, owner)
		for errors.Is(err, lock.ErrNotObtained) {
			if err = p.Clock.Wait(ctx, told); err == nil && message == "free" {
				err = p.take(ctx, owner)
			}
		}
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, p.releaseAndTell(owner)), nil
	}
}

// notifyingOne keeps the name of a waiter beside the lock, and tells only the one that was written last.
func notifyingOne(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		rung, stop := p.listen(owner)
		defer stop()
		for {
			got, err := p.script(ctx, `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
				redis.call('SET', KEYS[2], ARGV[1]) return 0`, []string{under("waiter")}, owner, p.ttl)
			if err == nil && got == 0 {
				err = p.Clock.Wait(ctx, rung)
			}
			if err != nil {
				return nil, err
			}
			if got == 1 {
				return p.lease(ctx, notifyingTheWaiter(p, owner)), nil
			}
		}
	}
}

func notifyingTheWaiter(p process, owner string) unlock {
	return func(ctx context.Context) error {
		_, err := p.script(ctx, `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
			local waiter = redis.call('GET', KEYS[2])
			if waiter then redis.call('DEL', KEYS[2]) redis.call('PUBLISH', waiter, 'free') end
			return 1`, []string{under("waiter")}, owner)
		return err
	}
}

// silentOnCancel gives the lock back without a message when the sale was cancelled.
func silentOnCancel(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		lease, err := listens(p)(ctx, owner)
		if err != nil {
			return nil, err
		}
		return lease.With(func(detached context.Context) error {
			if ctx.Err() != nil {
				return p.release(owner)(detached)
			}
			return p.releaseAndTell(owner)(detached)
		}), nil
	}
}
