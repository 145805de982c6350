package workshop_test

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
)

// wrongs are cures that are none, two at least for each exercise.
func wrongs() []wrong {
	return []wrong{
		{1, "an expiry by a second command", polls(expiryLater), explore.LeftBehind, 3},
		{1, "the expiry set at each attempt, by whoever waits", polls(expiryAtEachAttempt), explore.ForeignRelease, 6},
		{1, "an expiry that is too short", polls(shortExpiry), explore.TwoHolders, 5},
		{2, "the owner is written, and nobody reads it", taking(process.deleteAnyway), explore.ForeignRelease, 9},
		{2, "deleted if it is there", taking(process.deleteIfThere), explore.ForeignRelease, 10},
		{2, "a longer expiry", polls(longerExpiry), explore.ForeignRelease, 9},
		{3, "two looks", taking(process.looksTwice), explore.ForeignRelease, 8},
		{3, "a transaction that compares afterwards", taking(process.comparesAfterwards), explore.ForeignRelease, 6},
		{3, "a look at how long it is left", taking(process.looksAtTheExpiry), explore.ForeignRelease, 8},
		{4, "a timeout of the request's context", taking(process.timeoutOfTheRequest), explore.Idle, 4},
		{4, "left to the expiry when the client has gone", taking(process.leftToTheExpiry), explore.Idle, 4},
		{5, "counts down twice", entering(process.enter, leavesTwice), explore.TwoHolders, 6},
		{5, "the inner call does not count down", polls(innerStays), explore.Idle, 6},
		{6, "given up without a word", entering(process.enter, process.leave), explore.Idle, 2},
		{6, "asked until there is a reply", entering(process.asksTwice, process.leave), explore.Idle, 6},
		{6, "everything deleted after a lost reply", entering(process.deletesAll, process.leave), explore.ForeignRelease, 3},
		{7, "it ends with the next renewal", taking(process.endsLate), explore.GoroutineLeak, 4},
		{7, "it ends with the request", taking(process.endsWithTheRequest), explore.GoroutineLeak, 4},
		{7, "no renewal", taking(func(p process, _ context.Context, owner string) unlock { return p.release(owner) }), explore.TwoHolders, 5},
		{8, "GET, then PEXPIRE", taking(renewing(process.looksThenExtends)), explore.ForeignRelease, 9},
		{8, "SET XX", taking(renewing(process.setsAgain)), explore.ForeignRelease, 4},
		{9, "a channel without room", waits(noRoom), explore.Stuck, 9},
		{9, "told before the lock is free", waits(toldTooSoon), explore.Stuck, 9},
		{10, "larger, and not equal", polls(fencedBy(`tonumber(held) > tonumber(ARGV[1])`)), explore.FalseWord, 4},
		{10, "a number and a string", polls(fencedBy(`tonumber(held) == ARGV[1]`)), explore.FalseWord, 4},
		{10, "compared by the client", polls(fencedByTheClient), explore.ForeignRelease, 7},
		{11, "an error counts as a yes", polls(onNodes(true, process.releaseOn)), explore.TwoHolders, 6},
		{11, "a minority deletes what it finds", polls(onNodes(false, process.deleteOn)), explore.ForeignRelease, 6},
		{12, "the token after the lock", polls(tokenAfterwards), explore.TokenOrder, 5},
		{12, "the time for a token", polls(tokenOfTheClock), explore.TokenOrder, 5},
		{12, "a token of the process", polls(tokenOfTheProcess), explore.TokenOrder, 5},
		{13, "a fencing token", late(polls(fencedBy(`held == ARGV[1]`))), explore.Progress, 6},
		{13, "a renewal", late(taking(renewing(process.extend))), explore.LostUpdate, 8},
		{13, "no lock at all", late(waits(noLock)), explore.LostUpdate, 4},
		{14, "two looks", polls(looksAndSets), explore.TwoHolders, 6},
		{14, "written, and then looked at", polls(setsAndLooks), explore.ForeignRelease, 4},
		{14, "SET NX without an expiry", polls(noExpiry), explore.LeftBehind, 3},
	}
}

func expiryLater(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		err := p.set(ctx, owner, redis.SetArgs{Mode: "NX"})
		if err == nil {
			err = p.Client.PExpire(ctx, p.Key, p.TTL).Err()
		}
		return p.lease(ctx, p.release(owner)), err
	}
}

func expiryAtEachAttempt(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		err := p.set(ctx, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL})
		_ = p.Client.PExpire(ctx, p.Key, p.TTL).Err()
		return p.lease(ctx, p.release(owner)), err
	}
}

// expiresAfter is a lock with another expiry.
func expiresAfter(d time.Duration, of func(process, string) unlock) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			return p.lease(ctx, of(p, owner)), p.set(ctx, owner, redis.SetArgs{Mode: "NX", TTL: d})
		}
	}
}

func shortExpiry(p process) take {
	return expiresAfter(time.Second, func(p process, owner string) unlock { return p.release(owner) })(p)
}

func longerExpiry(p process) take {
	return expiresAfter(time.Minute, func(p process, _ string) unlock { return p.delete })(p)
}

func (p process) deleteAnyway(_ context.Context, _ string) unlock { return p.delete }

func (p process) deleteIfThere(_ context.Context, _ string) unlock {
	return func(ctx context.Context) error {
		if _, err := p.get(ctx); err != nil {
			return err
		}
		return p.delete(ctx)
	}
}

// look fails unless the lock is the owner's.
func (p process) look(ctx context.Context, owner string) error {
	holder, err := p.get(ctx)
	if err == nil && holder != owner {
		err = lock.ErrNotOwner
	}
	return err
}

func (p process) looksTwice(_ context.Context, owner string) unlock {
	return func(ctx context.Context) error {
		for range 2 {
			if err := p.look(ctx, owner); err != nil {
				return err
			}
		}
		return p.delete(ctx)
	}
}

func (p process) comparesAfterwards(_ context.Context, owner string) unlock {
	return func(ctx context.Context) error {
		var holder *redis.StringCmd
		_, _ = p.Client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			holder = pipe.Get(ctx, p.Key)
			pipe.Del(ctx, p.Key)
			return nil
		})
		if holder.Val() != owner {
			return lock.ErrNotOwner
		}
		return nil
	}
}

func (p process) looksAtTheExpiry(_ context.Context, owner string) unlock {
	return func(ctx context.Context) error {
		if err := p.look(ctx, owner); err != nil {
			return err
		}
		if left := p.Client.PTTL(ctx, p.Key).Val(); left < time.Second {
			return lock.ErrExpired
		}
		return p.delete(ctx)
	}
}

func (p process) timeoutOfTheRequest(request context.Context, owner string) unlock {
	return func(context.Context) error {
		ctx, stop := lock.WithTimeout(request, p.Clock, time.Second, lock.ErrTimeout)
		defer stop()
		return p.release(owner)(ctx)
	}
}

func (p process) leftToTheExpiry(request context.Context, owner string) unlock {
	return func(ctx context.Context) error {
		if request.Err() != nil {
			return nil //nolint:nilerr // that is the mistake
		}
		return p.release(owner)(ctx)
	}
}

func leavesTwice(p process, owner string) unlock {
	return func(ctx context.Context) error {
		_ = p.leave(owner)(ctx)
		return p.leave(owner)(ctx)
	}
}

// innerStays forgets the count of a call from within.
func innerStays(p process) take {
	depth := 0
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		if err := p.enter(ctx, owner); err != nil {
			return nil, err
		}
		depth++
		return p.lease(ctx, func(ctx context.Context) error {
			if depth--; depth > 0 {
				return nil
			}
			return p.leave(owner)(ctx)
		}), nil
	}
}

func (p process) asksTwice(ctx context.Context, owner string) error {
	err := p.enter(ctx, owner)
	for errors.Is(err, lock.ErrOutcomeUnknown) {
		err = p.enter(ctx, owner)
	}
	return err
}

func (p process) deletesAll(ctx context.Context, owner string) error {
	return lock.Undo(ctx, p.Clock, p.enter(ctx, owner), p.delete)
}

func (p process) endsLate(request context.Context, owner string) unlock {
	p.renewed(context.WithoutCancel(request), func(ctx context.Context) bool { return p.extend(ctx, owner) })
	return p.release(owner)
}

func (p process) endsWithTheRequest(request context.Context, owner string) unlock {
	p.renewed(request, func(ctx context.Context) bool { return p.extend(ctx, owner) })
	return p.release(owner)
}

// renewing is a renewal that ends in time.
func renewing(extend func(p process, ctx context.Context, owner string) bool) func(process, context.Context, string) unlock {
	return func(p process, request context.Context, owner string) unlock {
		ctx, stop := context.WithCancel(context.WithoutCancel(request))
		ended := p.renewed(ctx, func(ctx context.Context) bool { return extend(p, ctx, owner) })
		return func(ctx context.Context) error {
			stop()
			_ = p.Clock.Wait(ctx, ended)
			return p.release(owner)(ctx)
		}
	}
}

func (p process) looksThenExtends(ctx context.Context, owner string) bool {
	return p.look(ctx, owner) == nil && p.Client.PExpire(ctx, p.Key, p.TTL).Val()
}

func (p process) setsAgain(ctx context.Context, owner string) bool {
	return p.set(ctx, owner, redis.SetArgs{Mode: "XX", TTL: p.TTL}) == nil
}

func looksAndSets(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		for range 2 {
			if _, err := p.get(ctx); !errors.Is(err, lock.ErrExpired) {
				return nil, errors.Join(err, lock.ErrNotObtained)
			}
		}
		return p.lease(ctx, p.release(owner)), p.set(ctx, owner, redis.SetArgs{TTL: p.TTL})
	}
}

func setsAndLooks(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		if _, err := p.get(ctx); !errors.Is(err, lock.ErrExpired) {
			return nil, errors.Join(err, lock.ErrNotObtained)
		}
		if err := p.set(ctx, owner, redis.SetArgs{TTL: p.TTL}); err != nil {
			return nil, err
		}
		if p.look(ctx, owner) != nil {
			return nil, lock.ErrNotObtained
		}
		return p.lease(ctx, p.release(owner)), nil
	}
}

func noExpiry(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.lease(ctx, p.release(owner)), p.set(ctx, owner, redis.SetArgs{Mode: "NX"})
	}
}

// late is a lock whose sale writes after it has unlocked.
func late(s strategy.Strategy) strategy.Strategy {
	s.Update = strategy.LateCommit
	return s
}

func noLock(p process) take {
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		return p.lease(ctx, func(context.Context) error { return nil }), nil
	}
}
