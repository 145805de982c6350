package lockv8

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

var errRefresh = errors.New("time to be heard of again")

// contend waits in Redis's queue until the lock is this process's. It gives the token, and tells when the command that took
// the lock was sent.
//
// It asks again when it is woken; and every quarter of the expiry, which keeps its place and makes up for a hint that was lost.
func (l *Locker) contend(ctx context.Context) (token int64, sent time.Time, err error) {
	for {
		sent = l.opts.Clock.Now()
		token, err := l.acquire(ctx, l.opts.TTL)
		if !errors.Is(err, lock.ErrNotObtained) {
			return token, sent, err
		}
		if l.listen() {
			continue // it may have missed what was rung before
		}
		pause, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.TTL/4, errRefresh)
		_ = l.opts.Clock.Wait(pause, l.rung) // either way it asks again, unless its time is over
		stop()
		if ctx.Err() != nil {
			l.withdraw(ctx)
			return 0, sent, lock.WaitError(ctx, l.opts)
		}
	}
}

// listen begins to listen for wake-ups. It reports false if this process does already.
func (l *Locker) listen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unbell != nil {
		return false
	}
	l.unbell = l.opts.Bell.Listen(l.channels()+l.process, func() {
		select {
		case l.rung <- struct{}{}:
		default: // it is to look already
		}
	})
	return true
}

// acquire asks for the lock once, and for a place in the queue for so long. It gives the token.
func (l *Locker) acquire(ctx context.Context, place time.Duration) (token int64, err error) {
	token, err = l.client.Eval(ctx, lua.AcquireFenced, append(l.keys(), "{"+l.opts.Key+"}:fence"),
		l.process, l.opts.TTL.Milliseconds(), place.Milliseconds()).Int64()
	switch {
	case err != nil: // if only the reply was lost, the lock may be ours, or a place: give it back
		return 0, lock.Undo(ctx, l.opts, lock.Failed(ctx, "EVAL acquireFenced.lua", err), l.giveUp)
	case token == 0:
		return 0, lock.ErrNotObtained
	}
	return token, nil
}

// giveUp gives back whatever may be ours.
func (l *Locker) giveUp(ctx context.Context) error {
	if err := l.release(ctx, 0); !errors.Is(err, lock.ErrNotOwner) && !errors.Is(err, lock.ErrExpired) {
		return err
	}
	return l.forget(ctx)
}

// withdraw leaves the queue, unless others of this process wait: the next of them takes the place over.
func (l *Locker) withdraw(ctx context.Context) {
	if !l.others() {
		_ = lock.Anyway(ctx, l.opts.Clock, l.forget) // or the place is lost when it is not heard of
	}
}

func (l *Locker) forget(ctx context.Context) error {
	if err := l.client.Eval(ctx, lua.Leave, l.keys(), l.process, l.channels()).Err(); err != nil {
		return lock.Failed(ctx, "EVAL leave.lua", err)
	}
	return nil
}

// keys are in one slot of a Redis Cluster.
func (l *Locker) keys() []string { return []string{l.opts.Key, "{" + l.opts.Key + "}:queue"} }

// channels is what the channels begin with on which processes are woken.
func (l *Locker) channels() string { return "{" + l.opts.Key + "}:wake:" }
