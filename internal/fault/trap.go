package fault

import (
	"context"
	"sync"
)

// Action is what a proxy does to a caught command, reply or message.
type Action int

// The actions of a trap.
const (
	// Hold keeps the command from Redis until the trap's Release or Drop. Its client may be gone by then.
	Hold Action = iota
	// LoseRequest ends the command's connection: Redis never gets it.
	LoseRequest
	// LoseReply ends the command's connection once Redis has answered: its client never learns what it did.
	LoseReply
	// HoldReply keeps the reply from the client until the trap's Release or Drop.
	HoldReply
	// Resend sends the command to Redis twice, as a client does that repeats it by itself: the client gets the second reply. Of a
	// transaction, all commands are sent twice.
	Resend
	// LoseMessage keeps a message from a subscriber. Its connection goes on; matches gets "message", the channel and the message itself.
	LoseMessage
)

// Trap catches one command or one message on a Proxy, and applies an Action to it.
type Trap struct {
	matches func(args []string) bool
	action  Action
	closed  <-chan struct{} // closed with the proxy; nothing passes afterwards

	caught   chan struct{}
	decided  chan struct{}
	passes   bool // decision of Release or Drop; valid once decided is closed
	once     sync.Once
	answered chan struct{}
}

// IsCaught reports whether the trap has caught something and its action has begun: the command or its reply is held or lost, or Redis has
// answered it.
func (t *Trap) IsCaught() bool {
	select {
	case <-t.caught:
		return true
	default:
		return false
	}
}

// AwaitCaught waits until the trap has caught something, and returns true. It returns false if ctx ends first.
func (t *Trap) AwaitCaught(ctx context.Context) bool {
	select {
	case <-t.caught:
		return true
	case <-ctx.Done():
		return false
	}
}

// Answered returns a channel that is closed when Redis has answered the caught command, even if the client has left.
func (t *Trap) Answered() <-chan struct{} { return t.answered }

// Release lets a held command pass. A command that is caught later passes at once.
func (t *Trap) Release() { t.decide(true) }

// Drop loses a held command, and closes its connection.
func (t *Trap) Drop() { t.decide(false) }

// isForCommand reports whether the action applies to the command before it goes to Redis, and not to its reply.
func (t *Trap) isForCommand() bool { return t.action == Hold || t.action == LoseRequest }

// apply applies the action to a command, a reply or a message, and waits until it may pass. It returns errLost if it must not pass.
func (t *Trap) apply() error {
	close(t.caught) // This comes first, so that an observer of the client's failure finds its cause.
	switch t.action {
	case Hold, HoldReply:
		select {
		case <-t.decided:
		case <-t.closed:
			return errLost
		}
		if !t.passes {
			return errLost
		}
		return nil
	case Resend:
		return nil
	default:
		return errLost
	}
}

func (t *Trap) decide(passes bool) {
	t.once.Do(func() {
		t.passes = passes
		close(t.decided)
	})
}
