package lockv7

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/rediserr"
	"lockstep/util/lua"
)

var errRefresh = errors.New("time to be heard of again")

// contend waits in Redis's queue until the lock is this process's. It tells when the command was sent from which the lock has its
// expiry.
//
// Who gives the lock back hands it to the first in the queue, which is told. Beside that it asks again every quarter of the expiry,
// which keeps its place and makes up for a message that was lost.
func (l *Locker) contend(ctx context.Context) (sent time.Time, err error) {
	l.newClaim()
	for {
		sent = l.opts.Clock.Now()
		err := l.acquire(ctx, l.opts.TTL)
		if !errors.Is(err, lock.ErrNotObtained) {
			return sent, err
		}
		if l.listen() {
			continue // it may have missed what was rung before
		}
		pause, stop := lock.WithTimeout(ctx, l.opts.Clock, l.opts.TTL/4, errRefresh)
		_ = l.opts.Clock.Wait(pause, l.rung) // either way it asks again, unless its time is over
		stop()
		if ctx.Err() != nil {
			return sent, lock.WaitError(ctx, l.opts.WaitTimeout)
		}
		if l.granted(sent) {
			return sent, nil
		}
	}
}

// listen begins to listen for the lock to be handed over. It reports false if this process does already.
func (l *Locker) listen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unbell != nil {
		return false
	}
	l.unbell = l.opts.Notifier.Subscribe(l.channels()+l.process, func(message string) {
		l.hear(message)
		select {
		case l.rung <- struct{}{}:
		default: // it is to look already
		}
	})
	return true
}

// hear remembers which claim was granted the lock. Of other messages it only learns that it had better ask.
func (l *Locker) hear(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = message
}

// granted reports whether the lock was handed to our claim, which was last made at sent. It then lasts one expiry from sent, and has to
// be renewed before.
func (l *Locker) granted(sent time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard != l.claim || l.opts.Clock.Now().Sub(sent) > l.opts.TTL/2 {
		return false
	}
	l.placed = false
	return true
}

// newClaim names a new try to get the lock. A message or a command that comes late, of an earlier one, is not taken for this one's.
func (l *Locker) newClaim() {
	l.claims++
	l.claim = fmt.Sprintf("%x.%d", l.serial, l.claims)
}

// acquire asks for the lock once, and for a place in the queue for so long.
func (l *Locker) acquire(ctx context.Context, place time.Duration) error {
	reply, err := l.client.Eval(ctx, lua.Acquire, l.keys(),
		l.process, l.claim, l.opts.TTL.Milliseconds(), place.Milliseconds()).Int()
	switch {
	case err != nil: // if only the reply was lost, the lock may be ours, or a place: give it back
		return lock.Undo(ctx, l.opts.Clock, rediserr.Classify(ctx, "EVAL acquire.lua", err), l.giveUp)
	case reply == 0:
		l.placed = place > 0
		return lock.ErrNotObtained
	}
	l.placed = false
	return nil
}

// giveUp gives back whatever is our claim's, the lock or a place.
func (l *Locker) giveUp(ctx context.Context) error {
	if err := l.release(ctx, 0); !errors.Is(err, lock.ErrNotOwner) && !errors.Is(err, lock.ErrExpired) {
		return err
	}
	return nil
}

// keys are in one slot of a Redis Cluster.
func (l *Locker) keys() []string { return []string{l.opts.Key, "{" + l.opts.Key + "}:queue"} }

// channels is what the channels begin with on which processes are woken.
func (l *Locker) channels() string { return "{" + l.opts.Key + "}:wake:" }
