package lock

import (
	"context"
	"time"
)

// Inbox waits for messages on a channel. One goroutine at a time may use it.
type Inbox struct {
	opts    Options
	channel string

	unsubscribe func()        // ends the subscription; nil before the first Wait
	arrived     chan struct{} // holds one token after a message that no Wait has consumed
}

// NewInbox returns an inbox for a channel. It subscribes in the first Wait.
func NewInbox(opts Options, channel string) *Inbox {
	return &Inbox{opts: opts, channel: channel, arrived: make(chan struct{}, 1)}
}

// Wait is called after another owner was found to hold the lock. It returns at the next message, after d, or when ctx ends; the caller then
// tries again. The first call only subscribes and returns at once, because a message may have been missed before.
func (i *Inbox) Wait(ctx context.Context, d time.Duration) {
	i.opts.notifyRefused()
	if i.unsubscribe == nil {
		i.unsubscribe = i.opts.Notifier.Subscribe(i.channel, i.notify)
		return
	}
	wait, stop := WithTimeout(ctx, i.opts.Clock, d, ErrTimeout)
	defer stop()
	_ = i.opts.Clock.Wait(wait, i.arrived)
}

// notify records that a message has arrived.
func (i *Inbox) notify(string) {
	select {
	case i.arrived <- struct{}{}:
	default: // The token of an earlier message is still there.
	}
}

// Close ends the subscription. It never fails.
func (i *Inbox) Close() error {
	if i.unsubscribe != nil {
		i.unsubscribe()
		i.unsubscribe = nil
	}
	return nil
}
