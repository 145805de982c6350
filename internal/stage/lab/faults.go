package lab

import (
	"context"
	"fmt"
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// Kill kills a replica: kill -9.
func (s *Stage) Kill(replica string) { s.signal(replica, witness.KindDies, kill) }

// Stop stops a replica: SIGSTOP. It goes on by GoOn.
func (s *Stage) Stop(replica string) {
	s.stopped[replica] = true
	s.signal(replica, witness.KindStops, stop)
}

// GoOn lets a replica go on that was stopped: SIGCONT.
func (s *Stage) GoOn(replica string) {
	delete(s.stopped, replica)
	s.signal(replica, witness.KindGoes, goOn)
}

// signal does something to a replica's process, and notes it: the replica cannot.
func (s *Stage) signal(replica string, kind witness.Kind, send func(pid int) error) {
	if s.err != nil {
		return
	}
	if err := send(s.replicas[replica].PID); err != nil {
		s.err = fmt.Errorf("%s %s: %w", replica, kind, err)
		return
	}
	s.note(replica, kind)
}

// Catch sets a trap between a replica and Redis.
func (s *Stage) Catch(replica string, fate redisproxy.Fate, matches func(args []string) bool) *redisproxy.Trap {
	return s.proxies[replica].Catch(matches, fate)
}

// UntilCaught waits for a trap, or until the witness has seen something else that makes it needless. It notes what was caught.
func (s *Stage) UntilCaught(replica string, trap *redisproxy.Trap, as witness.Kind, or func([]witness.Event) bool) {
	s.UntilCaughtOn(replica, 0, trap, as, or)
}

// UntilCaughtOn does so for a trap between a replica and a Redis.
func (s *Stage) UntilCaughtOn(replica string, node int, trap *redisproxy.Trap, as witness.Kind, or func([]witness.Event) bool) {
	if s.err != nil {
		return
	}
	ctx, over := context.WithCancel(s.ctx)
	defer over()
	go func() {
		select {
		case <-trap.Caught():
			over()
		case <-ctx.Done():
		}
	}()
	err := s.collected.Until(ctx, or)
	switch {
	case isCaught(trap):
		s.noteOn(replica, node, as)
	case err != nil:
		s.err = fmt.Errorf("a command to be caught: %w", context.Cause(s.ctx))
	}
}

func isCaught(trap *redisproxy.Trap) bool {
	select {
	case <-trap.Caught():
		return true
	default:
		return false
	}
}

// Cut cuts a replica off from Redis.
func (s *Stage) Cut(replica string) {
	if s.err == nil {
		s.note(replica, witness.KindCut)
		for _, proxy := range s.proxiesOf(replica) {
			proxy.Cut()
		}
	}
}

// Mend lets a replica reach Redis again.
func (s *Stage) Mend(replica string) {
	if s.err == nil {
		s.note(replica, witness.KindMend)
		for _, proxy := range s.proxiesOf(replica) {
			proxy.Mend()
		}
	}
}

// Release lets a command pass that a trap holds.
func (s *Stage) Release(replica string, trap *redisproxy.Trap) { s.ReleaseOn(replica, 0, trap) }

// ReleaseOn does so for a trap between a replica and a Redis.
func (s *Stage) ReleaseOn(replica string, node int, trap *redisproxy.Trap) {
	if isCaught(trap) {
		s.noteOn(replica, node, witness.KindFreed)
	}
	trap.Release()
}

// UntilAnswered waits until Redis has answered a command that was caught.
func (s *Stage) UntilAnswered(trap *redisproxy.Trap) {
	if s.err != nil {
		return
	}
	select {
	case <-trap.Answered():
	case <-s.ctx.Done():
		s.err = fmt.Errorf("an answer to the command that was held: %w", context.Cause(s.ctx))
	}
}

// note notes what happens to a replica: it cannot itself.
func (s *Stage) note(replica string, kind witness.Kind) { s.noteOn(replica, 0, kind) }

// noteOn notes what happens between a replica and a Redis.
func (s *Stage) noteOn(replica string, node int, kind witness.Kind) {
	now := time.Now()
	s.collected.See(witness.Event{Replica: replica, Kind: kind, Node: node, Sent: now, Replied: now})
}
