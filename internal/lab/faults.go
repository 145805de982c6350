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

// Pause suspends a replica until Resume or the end of the stage.
func (s *Stage) Pause(name string) { s.signal(name, witness.KindStops, s.replicas.Pause) }

// Resume resumes a suspended replica.
func (s *Stage) Resume(name string) { s.signal(name, witness.KindResumes, s.replicas.Resume) }

// signal sends a signal to a replica and records the event.
func (s *Stage) signal(name string, kind witness.Kind, send func(name string) error) {
	s.inject(name, 0, kind, func() error { return send(name) })
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
	s.inject(name, node, kind, func() error {
		for _, proxy := range proxies {
			do(proxy)
		}
		return nil
	})
}

// inject injects a fault into a replica or, with an empty name, into a Redis. It also records the fault, because a dead or paused process
// cannot do so.
func (s *Stage) inject(name string, node int, kind witness.Kind, do func() error) {
	at := time.Now() // taken before the fault: commands that reach a Redis later are not lost
	event := witness.Event{Replica: name, Kind: kind, Node: node, Sent: at, Replied: at}
	s.do(language.Both(event.Sentence(language.English), event.Sentence(language.Chinese)), func() error {
		err := do()
		if err == nil {
			s.collector.Record(event)
		}
		return err
	})
}

// recordNow records an event of a replica, or between a replica and a Redis, with the current time.
func (s *Stage) recordNow(name string, node int, kind witness.Kind) {
	at := time.Now()
	s.collector.Record(witness.Event{Replica: name, Kind: kind, Node: node, Sent: at, Replied: at})
}

// Trap catches one command, or one message, between a replica and a Redis.
type Trap struct {
	*fault.Trap

	replica string       // name of the replica
	node    int          // 0: the Redis with the stock; otherwise a 1-based node of redlock
	kind    witness.Kind // kind of the event that is recorded when the trap has caught something
}

// Catch sets a trap between a replica and a node. Node 0 is the Redis with the stock.
func (s *Stage) Catch(replica string, node int, action fault.Action, matches func(args []string) bool) Trap {
	return Trap{s.proxies[replica][node].Catch(matches, action), replica, node, map[fault.Action]witness.Kind{
		fault.Hold: witness.KindCommandHeld, fault.HoldReply: witness.KindReplyHeld, fault.LoseRequest: witness.KindCommandLost,
		fault.LoseReply: witness.KindCommandLost, fault.LoseMessage: witness.KindMessageLost, fault.Resend: witness.KindCommandResent,
	}[action]}
}

// Pass sets a trap that notices a command and lets it pass. AwaitReply waits for the reply to the command.
func (s *Stage) Pass(replica string, node int, matches func(args []string) bool) Trap {
	t := s.Catch(replica, node, fault.Hold, matches)
	t.Release()
	return t
}

// AwaitCaught waits until the trap has caught something, and records that. It also returns when the condition alternative is met.
func (s *Stage) AwaitCaught(t Trap, alternative Condition) {
	s.do(catchStep(), func() error {
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		go func() {
			t.AwaitCaught(ctx)
			cancel()
		}()
		err := s.collector.WaitUntil(ctx, alternative)
		if t.IsCaught() {
			s.recordNow(t.replica, t.node, t.kind)
			return nil
		}
		return err
	})
}

// Release lets a held command pass.
func (s *Stage) Release(t Trap) {
	if t.IsCaught() {
		s.recordNow(t.replica, t.node, witness.KindCommandReleased)
	}
	t.Release()
}

// AwaitReply waits until Redis has answered the caught command.
func (s *Stage) AwaitReply(t Trap) {
	s.do(heldReplyStep(), func() error { return await(s.ctx, t.Answered()) })
}
