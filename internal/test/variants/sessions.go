package variants

import (
	"context"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// sessions are locks whose process keeps something beyond its sales, and does not give it back when it is closed.
func sessions() []Variant {
	return []Variant{
		{Name: "a session that nobody ends", Lock: ofSession(sessionNobodyEnds), Shows: anomaly.GoroutineLeak, Steps: 4},
		{
			Name: "a session that ends, and its renewal does not", Lock: ofSession(sessionWhoseRenewalStays),
			Shows: anomaly.GoroutineLeak, Steps: 4,
		},
	}
}

// rightSessions do.
func rightSessions() []Variant {
	return []Variant{
		{Name: "a session of the process", Lock: ofSession(session)},
		{Name: "a session of the process, two sales", Lock: ofSession(session), Scenario: explore.Scenario{Actors: 1, Sales: 2}},
	}
}

// kept is a lock whose process keeps something: end gives it back.
type kept struct {
	locker

	end func(context.Context) error
}

// Close implements lock.Closer.
func (k kept) Close(ctx context.Context) error { return k.end(ctx) }

// keeps makes the lock of a process, and what ends what that keeps.
type keeps func(process) (take, func(context.Context) error)

func ofSession(of keeps) strategy.Strategy {
	return strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
		take, end := of(process{p, p.Client, p.TTL.Milliseconds()})
		return kept{locker{take, take}, end}
	}}
}

// session renews the key of its process from its first sale on, as long as nobody closes it. The lock is a key beside it.
func session(p process) (take, func(context.Context) error) {
	var stop context.CancelFunc
	name := under("session:" + p.Process)
	alive := func(ctx context.Context) error {
		_, err := p.text(ctx, "SET", name, lock.Owner(p.Process), "PX", p.ttl)
		return err
	}
	attempt := func(ctx context.Context, owner string) (*lock.Lease, error) {
		return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) {
			if err := p.take(ctx, owner); err != nil {
				return nil, err
			}
			if stop == nil {
				stop = p.renew(func(ctx context.Context) bool { return alive(ctx) == nil })
			}
			return p.lease(ctx, p.release(owner)), nil
		})
	}
	return attempt, func(context.Context) error {
		if stop != nil {
			stop()
		}
		return nil
	}
}

func sessionNobodyEnds(p process) (take, func(context.Context) error) {
	take, _ := session(p)
	return take, nothing
}

func sessionWhoseRenewalStays(p process) (take, func(context.Context) error) {
	take, _ := session(p)
	return take, p.does("DEL", under("session:"+p.Process))
}
