package lab

import (
	"context"
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// Trap catches one command, or one message, between a replica and a Redis.
type Trap struct {
	*redisproxy.Trap

	replica string
	node    int
	is      witness.Kind // what is noted when it has caught something
}

// Catch sets a trap between a replica and a node; 0 is the Redis with the stock.
func (s *Stage) Catch(replica string, node int, fate redisproxy.Fate, matches func(args []string) bool) Trap {
	return Trap{s.proxies[replica][node].Catch(matches, fate), replica, node, map[redisproxy.Fate]witness.Kind{
		redisproxy.Hold: witness.KindHeld, redisproxy.HoldReply: witness.KindUnheard, redisproxy.LoseRequest: witness.KindLost,
		redisproxy.LoseReply: witness.KindLost, redisproxy.LoseMessage: witness.KindMessageLost, redisproxy.Resend: witness.KindResent,
	}[fate]}
}

// Pass watches for a command between a replica and a Redis, and lets it pass. UntilAnswered waits for it.
func (s *Stage) Pass(replica string, node int, matches func(args []string) bool) Trap {
	t := s.Catch(replica, node, redisproxy.Hold, matches)
	t.Release()
	return t
}

// UntilCaught waits for a trap, or until the witness has seen something else that makes it needless. It notes what was caught.
func (s *Stage) UntilCaught(t Trap, or Condition) {
	s.do("a command to be caught", func() error {
		ctx, over := context.WithCancel(s.ctx)
		defer over()
		go func() {
			t.AwaitCaught(ctx)
			over()
		}()
		err := s.collected.Until(ctx, or)
		if t.IsCaught() {
			s.note(time.Now(), t.replica, t.node, t.is)
			return nil
		}
		return err
	})
}

// Release lets a command pass that a trap holds.
func (s *Stage) Release(t Trap) {
	if t.IsCaught() {
		s.note(time.Now(), t.replica, t.node, witness.KindFreed)
	}
	t.Release()
}

// UntilAnswered waits until Redis has answered a command that was caught.
func (s *Stage) UntilAnswered(t Trap) {
	s.do("an answer to the command that was held", func() error { return s.await(t.Answered()) })
}
