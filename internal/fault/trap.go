package fault

import (
	"context"
	"sync"
)

// Action is what becomes of a command that is caught.
type Action int

// The actions.
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

// Trap catches one command, or one message.
type Trap struct {
	matches func(args []string) bool
	action  Action
	closed  <-chan struct{} // closed with the proxy: nothing passes any more

	caught   chan struct{}
	decided  chan struct{}
	passes   bool // once it is decided
	once     sync.Once
	answered chan struct{}
}

// IsCaught reports whether a command or a message has been caught and its action has begun: it or its reply is held, or lost, or Redis has
// answered it.
func (t *Trap) IsCaught() bool {
	select {
	case <-t.caught:
		return true
	default:
		return false
	}
}

// AwaitCaught waits until something IsCaught, and reports whether it is; or until ctx ends.
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

// isForCommand reports whether a command that is caught meets its action before it goes on to Redis; otherwise its reply does.
func (t *Trap) isForCommand() bool { return t.action == Hold || t.action == LoseRequest }

// apply does what the action says with a command, a reply or a message, and waits until that may pass. It fails with errLost if it never
// may.
func (t *Trap) apply() error {
	close(t.caught) // first: who then hears of its client's failure knows why
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
