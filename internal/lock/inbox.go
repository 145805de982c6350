package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Inbox holds the last message that was published to a channel, which tells the attempt that has been granted a lock. One goroutine at a
// time may use it.
type Inbox struct {
	clock    Clock
	notifier Notifier
	channel  string

	unsubscribe func()        // nil while it is closed
	arrived     chan struct{} // holds one token when a message came that nobody waited for yet

	mu   sync.Mutex
	last string
}

// NewInbox makes an inbox, which is closed.
func NewInbox(notifier Notifier, clock Clock, channel string) *Inbox {
	return &Inbox{clock: clock, notifier: notifier, channel: channel, arrived: make(chan struct{}, 1)}
}

// Open begins to listen, or reports false if the inbox is open already. A message published before may have been missed.
func (i *Inbox) Open() bool {
	if i.unsubscribe != nil {
		return false
	}
	i.unsubscribe = i.notifier.Subscribe(i.channel, func(message string) {
		i.mu.Lock()
		i.last = message
		i.mu.Unlock()
		select {
		case i.arrived <- struct{}{}:
		default: // nobody has looked yet at the one before
		}
	})
	return true
}

// Close ends listening.
func (i *Inbox) Close() {
	if i.unsubscribe != nil {
		i.unsubscribe()
		i.unsubscribe = nil
	}
}

var errNoMessage = errors.New("no message came in time")

// Wait waits for a message, until ctx ends, and for d at most.
func (i *Inbox) Wait(ctx context.Context, d time.Duration) {
	wait, stop := WithTimeout(ctx, i.clock, d, errNoMessage)
	defer stop()
	_ = i.clock.Wait(wait, i.arrived) // either way the caller looks at what there is
}

// Granted gives the grant of an attempt with its fencing tokens if the last message, "ATTEMPT FIRST-TOKEN HOW-MANY", says that it was
// granted the lock.
func (i *Inbox) Granted(attempt Grant) (held Grant, granted bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var id string
	var first int64
	var n int
	if _, err := fmt.Sscanf(i.last, "%s %d %d", &id, &first, &n); err != nil || id != attempt.Attempt || n < 1 {
		return Grant{}, false
	}
	return attempt.WithTokens(first, n), true
}
