package redisproxy

import (
	"context"
	"sync"
)

// Fate is what becomes of a command that is caught.
type Fate int

// The fates.
const (
	// Hold keeps the command from Redis until the trap's Release or Drop. Its client may be gone by then.
	Hold Fate = iota
	// LoseRequest ends the command's connection: Redis never gets it.
	LoseRequest
	// LoseReply ends the command's connection once Redis has answered: its client never learns what it did.
	LoseReply
	// HoldReply keeps the reply from the client until the trap's Release or Drop.
	HoldReply
	// Resend sends the command to Redis twice, as a client does that repeats it by itself: the client gets the second reply.
	Resend
	// LoseMessage keeps a message from a subscriber. Its connection goes on; matches gets "message", the channel and the message itself.
	LoseMessage
)

// Trap catches one command, or one message.
type Trap struct {
	matches func(args []string) bool
	fate    Fate
	sprung  bool // the proxy's mutex is held

	once    sync.Once
	caught  chan struct{}
	decided chan struct{}
	passes  bool // once it is decided

	answered chan struct{}
}

func newTrap(matches func([]string) bool, fate Fate) *Trap {
	return &Trap{matches: matches, fate: fate, caught: make(chan struct{}), decided: make(chan struct{}), answered: make(chan struct{})}
}

// Caught is closed when a command or a message has been caught and its fate has begun: it or its reply is held, or lost, or Redis has
// answered it.
func (t *Trap) Caught() <-chan struct{} { return t.caught }

// IsCaught reports whether Caught is closed.
func (t *Trap) IsCaught() bool {
	select {
	case <-t.caught:
		return true
	default:
		return false
	}
}

// AwaitCaught waits until Caught is closed, and reports whether it is; or until ctx ends.
func (t *Trap) AwaitCaught(ctx context.Context) bool {
	select {
	case <-t.caught:
		return true
	case <-ctx.Done():
		return false
	}
}

// Answered is closed when Redis has answered the command that was caught, whether its client is still there or not.
func (t *Trap) Answered() <-chan struct{} { return t.answered }

// Release lets a command that is held pass. A command that comes later passes at once.
func (t *Trap) Release() { t.decide(true) }

// Drop loses a command that is held, and its connection.
func (t *Trap) Drop() { t.decide(false) }

func (t *Trap) decide(passes bool) {
	t.once.Do(func() {
		t.passes = passes
		close(t.decided)
	})
}
