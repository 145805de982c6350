package lab

import (
	"context"
	"time"

	"lockstep/internal/fault"
	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// Kill kills a replica.
func (s *Stage) Kill(name string) { s.signal(name, witness.KindDies, s.replicas.Kill) }

// Stop stops a replica. It goes on by Resume, or ends with the stage.
func (s *Stage) Stop(name string) { s.signal(name, witness.KindStops, s.replicas.Stop) }

// Resume lets a replica go on that was stopped.
func (s *Stage) Resume(name string) { s.signal(name, witness.KindResumes, s.replicas.Resume) }

func (s *Stage) signal(name string, kind witness.Kind, send func(name string) error) {
	s.hit(name, 0, kind, func() error { return send(name) })
}

// Cut cuts a replica off from every Redis.
func (s *Stage) Cut(name string) {
	s.way(name, 0, witness.KindCutOff, s.proxies[name], (*fault.Proxy).Cut)
}

// CutNode cuts a replica off from one node.
func (s *Stage) CutNode(name string, node int) {
	s.way(name, node, witness.KindCutOff, s.proxies[name][node:node+1], (*fault.Proxy).Cut)
}

// Mend lets a replica reach Redis again.
func (s *Stage) Mend(name string) {
	s.way(name, 0, witness.KindReconnects, s.proxies[name], (*fault.Proxy).Mend)
}

func (s *Stage) way(name string, node int, kind witness.Kind, proxies []*fault.Proxy, do func(*fault.Proxy)) {
	s.hit(name, node, kind, func() error {
		for _, proxy := range proxies {
			do(proxy)
		}
		return nil
	})
}

// hit does something to a replica, or, with "", to a Redis, and notes it: whoever is hit cannot.
func (s *Stage) hit(name string, node int, kind witness.Kind, do func() error) {
	at := time.Now() // what comes to a Redis after that is not lost
	event := witness.Event{Replica: name, Kind: kind, Node: node, Sent: at, Replied: at}
	s.do(language.Both(event.Sentence(language.English), event.Sentence(language.Chinese)), func() error {
		err := do()
		if err == nil {
			s.collected.Record(event)
		}
		return err
	})
}

// note notes what happens now to a replica, or between it and a Redis.
func (s *Stage) note(name string, node int, kind witness.Kind) {
	at := time.Now()
	s.collected.Record(witness.Event{Replica: name, Kind: kind, Node: node, Sent: at, Replied: at})
}

// Trap catches one command, or one message, between a replica and a Redis.
type Trap struct {
	*fault.Trap

	replica string
	node    int
	is      witness.Kind // what is noted when it has caught something
}

// Catch sets a trap between a replica and a node; 0 is the Redis with the stock.
func (s *Stage) Catch(replica string, node int, action fault.Action, matches func(args []string) bool) Trap {
	return Trap{s.proxies[replica][node].Catch(matches, action), replica, node, map[fault.Action]witness.Kind{
		fault.Hold: witness.KindCommandHeld, fault.HoldReply: witness.KindReplyHeld, fault.LoseRequest: witness.KindCommandLost,
		fault.LoseReply: witness.KindCommandLost, fault.LoseMessage: witness.KindMessageLost, fault.Resend: witness.KindCommandResent,
	}[action]}
}

// Pass watches for a command between a replica and a Redis, and lets it pass. UntilAnswered waits for it.
func (s *Stage) Pass(replica string, node int, matches func(args []string) bool) Trap {
	t := s.Catch(replica, node, fault.Hold, matches)
	t.Release()
	return t
}

// UntilCaught waits for a trap, or until the witness has seen something else that makes it needless. It notes what was caught.
func (s *Stage) UntilCaught(t Trap, or Condition) {
	s.do(catching(), func() error {
		ctx, over := context.WithCancel(s.ctx)
		defer over()
		go func() {
			t.AwaitCaught(ctx)
			over()
		}()
		err := s.collected.WaitUntil(ctx, or)
		if t.IsCaught() {
			s.note(t.replica, t.node, t.is)
			return nil
		}
		return err
	})
}

// Release lets a command pass that a trap holds.
func (s *Stage) Release(t Trap) {
	if t.IsCaught() {
		s.note(t.replica, t.node, witness.KindCommandReleased)
	}
	t.Release()
}

// UntilAnswered waits until Redis has answered a command that was caught.
func (s *Stage) UntilAnswered(t Trap) {
	s.do(answering(), func() error { return await(s.ctx, t.Answered()) })
}
