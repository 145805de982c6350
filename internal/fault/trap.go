package fault

import (
	"context"
	"sync"
)

// Action is what a proxy does to a caught command, reply or message.
type Action int

// The actions of a trap.
const (
	// Hold delays the command until the trap's Release or Drop. Its client may have left by then.
	Hold Action = iota
	// LoseRequest ends the command's connection: Redis never gets it.
	LoseRequest
	// LoseReply ends the command's connection once Redis has answered: its client never learns what the command did.
	LoseReply
	// HoldReply keeps the reply from the client until the trap's Release or Drop.
	HoldReply
	// Resend sends the command to Redis twice, as a client library with automatic retries does. The client gets the second reply. A
	// transaction is sent twice as a whole.
	Resend
	// LoseMessage drops a message to a subscriber, whose connection stays open. The predicate of such a trap gets "message", the channel
	// and the payload.
	LoseMessage
)

// Trap catches one command or one message on a Proxy, and applies an Action to it.
type Trap struct {
	matches func(args []string) bool // predicate of what the trap catches
	action  Action
	closed  <-chan struct{} // closed with the proxy; nothing passes afterwards

	caught   chan struct{} // closed when the trap has caught something
	decided  chan struct{} // closed by the first Release or Drop
	passes   bool          // decision of Release or Drop; valid once decided is closed
	once     sync.Once     // lets only the first decision count
	answered chan struct{} // closed when Redis has answered the caught command
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

// Release lets the held command pass. If nothing is caught yet, the command passes when it is caught.
func (t *Trap) Release() { t.decide(true) }

// Drop loses the held command, and closes its connection.
func (t *Trap) Drop() { t.decide(false) }

// isForCommand reports whether the action applies to the command before it goes to Redis, and not to its reply.
func (t *Trap) isForCommand() bool { return t.action == Hold || t.action == LoseRequest }

// apply applies the action to a command, a reply or a message, and waits until that may pass. It returns errLost if it must not pass.
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

// decide records the first decision whether a held command passes; later ones have no effect.
func (t *Trap) decide(passes bool) {
	t.once.Do(func() {
		t.passes = passes
		close(t.decided)
	})
}
