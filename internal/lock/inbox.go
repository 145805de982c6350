package lock

import (
	"context"
	"time"
)

// Inbox tells that a message was published to a channel. One goroutine at a time may use it.
type Inbox struct {
	opts    Options
	channel string

	unsubscribe func()        // nil before the first Wait
	arrived     chan struct{} // holds one token when a message came that nobody waited for yet
}

// NewInbox makes an inbox of a channel.
func NewInbox(opts Options, channel string) *Inbox {
	return &Inbox{opts: opts, channel: channel, arrived: make(chan struct{}, 1)}
}

// Wait is for those who were refused the lock. It waits for a message, until ctx ends, and for d at most; then the caller looks at what
// there is. The first time, it only begins to listen: a message may have been missed before.
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

func (i *Inbox) notify(string) {
	select {
	case i.arrived <- struct{}{}:
	default: // nobody has looked yet after the one before
	}
}

// Close ends listening.
func (i *Inbox) Close() error {
	if i.unsubscribe != nil {
		i.unsubscribe()
		i.unsubscribe = nil
	}
	return nil
}
