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

// Stop suspends a replica until Resume or the end of the stage.
func (s *Stage) Stop(name string) { s.signal(name, witness.KindStops, s.replicas.Stop) }

// Resume resumes a suspended replica.
func (s *Stage) Resume(name string) { s.signal(name, witness.KindResumes, s.replicas.Resume) }

// signal sends a signal to a replica and records the event.
func (s *Stage) signal(name string, kind witness.Kind, send func(name string) error) {
	s.hit(name, 0, kind, func() error { return send(name) })
}

// Cut disconnects a replica from every Redis.
func (s *Stage) Cut(name string) {
	s.onProxies(name, 0, witness.KindCutOff, s.proxies[name], (*fault.Proxy).Cut)
}

// CutNode disconnects a replica from one node.
func (s *Stage) CutNode(name string, node int) {
	s.onProxies(name, node, witness.KindCutOff, s.proxies[name][node:node+1], (*fault.Proxy).Cut)
}

// Reconnect reconnects a replica to every Redis.
func (s *Stage) Reconnect(name string) {
	s.onProxies(name, 0, witness.KindReconnects, s.proxies[name], (*fault.Proxy).Restore)
}

// onProxies applies do to proxies of a replica and records the event.
func (s *Stage) onProxies(name string, node int, kind witness.Kind, proxies []*fault.Proxy, do func(*fault.Proxy)) {
	s.hit(name, node, kind, func() error {
		for _, proxy := range proxies {
			do(proxy)
		}
		return nil
	})
}

// hit injects a fault into a replica or, with an empty name, into a Redis, and records it, since a failed process cannot.
func (s *Stage) hit(name string, node int, kind witness.Kind, do func() error) {
	at := time.Now() // commands that reach a Redis later are not lost
	event := witness.Event{Replica: name, Kind: kind, Node: node, Sent: at, Replied: at}
	s.do(language.Both(event.Sentence(language.English), event.Sentence(language.Chinese)), func() error {
		err := do()
		if err == nil {
			s.collected.Record(event)
		}
		return err
	})
}

// note records an event of a replica, or between it and a Redis, at the present time.
func (s *Stage) note(name string, node int, kind witness.Kind) {
	at := time.Now()
	s.collected.Record(witness.Event{Replica: name, Kind: kind, Node: node, Sent: at, Replied: at})
}

// Trap catches one command, or one message, between a replica and a Redis.
type Trap struct {
	*fault.Trap

	replica string
	node    int
	kind    witness.Kind // event recorded when the trap has caught something
}

// Catch sets a trap between a replica and a node. Node 0 is the Redis with the stock.
func (s *Stage) Catch(replica string, node int, action fault.Action, matches func(args []string) bool) Trap {
	return Trap{s.proxies[replica][node].Catch(matches, action), replica, node, map[fault.Action]witness.Kind{
		fault.Hold: witness.KindCommandHeld, fault.HoldReply: witness.KindReplyHeld, fault.LoseRequest: witness.KindCommandLost,
		fault.LoseReply: witness.KindCommandLost, fault.LoseMessage: witness.KindMessageLost, fault.Resend: witness.KindCommandResent,
	}[action]}
}

// Pass sets a trap that notices a command and lets it pass. UntilAnswered waits for its reply.
func (s *Stage) Pass(replica string, node int, matches func(args []string) bool) Trap {
	t := s.Catch(replica, node, fault.Hold, matches)
	t.Release()
	return t
}

// UntilCaught waits until the trap has caught something, which it records, or until the condition or is met.
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
			s.note(t.replica, t.node, t.kind)
			return nil
		}
		return err
	})
}

// Release lets a held command pass.
func (s *Stage) Release(t Trap) {
	if t.IsCaught() {
		s.note(t.replica, t.node, witness.KindCommandReleased)
	}
	t.Release()
}

// UntilAnswered waits until Redis has answered the caught command.
func (s *Stage) UntilAnswered(t Trap) {
	s.do(answering(), func() error { return await(s.ctx, t.Answered()) })
}
