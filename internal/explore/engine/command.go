package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/simredis"
)

// silent reports whether no reply comes to a command that this happens to.
func (k Kind) silent() bool {
	return k == LosesReply || k == LosesRequest || k == Delays || k == Resends
}

// maxUnsent is how many commands in a row a task may try to send when their context has ended.
const maxUnsent = 1000

// network is the simredis.Network of an execution.
type network struct{ *Execution }

// Network returns what clients send their commands by.
func (x *Execution) Network() simredis.Network { return network{x} }

// Send implements simredis.Network: it holds commands back until the schedule lets them go. From then on they are on their way, whatever
// becomes of their context: go-redis looks at that before it writes, and not after.
func (x network) Send(ctx context.Context, server int, cmds []redis.Cmder, deliver func(context.Context) error) error {
	t := x.running("a command")
	if t == nil {
		return ErrBlind
	}
	x.timeless(ctx)
	x.jotCommands(cmds)
	t.last = nil
	if err := ctx.Err(); err != nil {
		return x.unsent(t, err)
	}
	t.unsent = 0
	return x.transmit(ctx, t, server, cmds, deliver)
}

// unsent returns what a command gets whose context has ended. One that tries again at once, and again, would never end.
func (x network) unsent(t *Task, err error) error {
	if t.unsent++; t.unsent <= maxUnsent {
		return err
	}
	x.Fail(fmt.Errorf("%w: its context has ended, and it tries again and again without a pause%s", ErrBlind, line()))
	t.Condemn()
	return park(t)
}

// transmit sends what is not held back by its sender's context. A client that sends a command again does so, whatever became of that.
func (x network) transmit(ctx context.Context, t *Task, server int, cmds []redis.Cmder, deliver func(context.Context) error) error {
	t.pending, t.to, t.fate = cmds, server, Moves
	x.callByNode(t, server)
	x.locate(t)
	if err := park(t); err != nil {
		return err
	}
	if x.recorder != nil {
		x.recorder.Sending(server, cmds)
	}
	s := x.Cluster.Servers()[server]
	if s.Health == simredis.Crashed {
		t.pending = nil
		return x.refuse(t, s)
	}
	err := deliver(context.WithoutCancel(ctx))
	if t.fate.silent() || t.cut {
		x.noteOf(t, s, "lost", "", "")
		t.itsRound().lost = true
	}
	t.pending, t.cut = nil, false
	switch t.fate {
	case Resends:
		return x.transmit(ctx, t, server, cmds, deliver)
	case PausesAfter:
		t.actor.Process.paused = true
	case DiesAfter:
		t.actor.Process.dead = true
		t.Condemn()
		return errDead
	default:
	}
	if t.actor.Process.paused {
		t.unread = true
		if err := park(t); err != nil {
			return err
		}
		t.unread = false
	}
	if s.Health == simredis.Hung {
		return x.loseReply(ctx, t)
	}
	return err
}

// Mine implements simredis.Network.
func (x network) Mine() bool {
	t := x.current.Load()
	return t != nil && x.hasTurn(t)
}

// Refuse implements simredis.Network.
func (x network) Refuse(err error) { x.Fail(fmt.Errorf("%w%s", err, line())) }

// Receive implements simredis.Network: a command takes effect.
func (x network) Receive(
	conn *simredis.Conn, server int, command *simredis.Command, rest []*simredis.Command,
) ([]byte, error) {
	s, t := x.Cluster.Servers()[server], x.running("a command")
	if t == nil {
		return nil, ErrBlind
	}
	c, follow := t.split(s, conn, command, rest)
	t.rest = nil
	if t.cut {
		x.isCutOff(c)
		return nil, io.ErrUnexpectedEOF
	}
	if x.recorder != nil && (t.fate == LosesRequest || t.fate == Delays) {
		x.recorder.Sending(server, t.pending)
	} else if x.recorder != nil {
		x.recorder.Sending(server, c.commands)
	}
	if t.fate == LosesRequest || t.fate == Delays {
		if t.fate == Delays {
			x.late = append(append(x.late, c), follow...)
		}
		return nil, io.ErrUnexpectedEOF
	}
	switch t.fate {
	case Unsynced:
		x.Cluster.Lag(s)
	case Unsaved:
		x.Cluster.Save(s)
	default:
	}
	before, version, r := s.Holds, x.Cluster.Version(), t.itsRound()
	a, err := x.effect(c)
	if err != nil {
		x.Fail(fmt.Errorf("%w%s", err, line()))
		return nil, err
	}
	x.noteOf(t, s, "reply", inPast(t, s), string(a.Reply))
	if x.Cluster.Version() != version && r.changes.All == 0 {
		r.before = x.Cluster.Contents()
		r.before[s.Index] = before
	}
	r.did = r.did || !a.Then.SameKeys(before)
	x.ask(r, question{s, command}, version)
	r.changes = r.changes.Plus(x.Cluster.Version().Minus(version))
	r.looked, r.stock = r.looked || x.Cluster.IsTimed(s, command), r.stock || !isLocksAlone(command)
	x.checker.Booked(before, a.Orders)
	if x.recorder != nil && len(follow) > 0 {
		x.recorder.Follow(t.pending[len(c.commands):], t.fate != DiesAfter)
	}
	switch {
	case t.fate == LosesReply || t.fate == Resends || s.Health == simredis.Hung:
		x.orphan(follow)
		return nil, io.ErrUnexpectedEOF
	case len(follow) == 0:
		return a.Reply, nil
	case t.fate == DiesAfter: // and with it its connection
		return nil, io.ErrUnexpectedEOF
	case t.fate == PausesAfter:
		t.actor.Process.paused = true
	}
	t.rest, t.pending = follow, t.pending[len(c.commands):]
	return a.Reply, nil
}

// effect lets a command take effect.
func (x *machine) effect(c sent) (*simredis.Answer, error) {
	a, err := x.Cluster.Ask(c.server, c.conn, c.from.actor.Index, x.now, c.command)
	if err == nil && a.Then != c.server.Holds {
		err = itsKeys(c.command, a.Then)
	}
	if err != nil {
		return nil, err
	}
	if x.recorder != nil {
		x.recorder.Replied(a.Reply, len(c.commands))
	}
	x.becomes(c.server, a.Then, c.from.actor)
	x.publish(a.Published)
	return a, nil
}

// refuse answers for a crashed node.
func (x network) refuse(t *Task, s *simredis.Server) error {
	x.noteOf(t, s, "refused", inPast(t, s), "")
	if x.recorder != nil {
		x.recorder.Replied([]byte("-connection refused\r\n"), 1)
	}
	x.ask(t.itsRound(), question{server: s}, x.Cluster.Version())
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// readTimeout is how long a client waits for a reply, as the shop's do.
const readTimeout = 3 * time.Second

// loseReply answers for a hung node: what was sent takes effect, and its sender waits until its context ends, or its client gives up.
func (x network) loseReply(ctx context.Context, t *Task) error {
	t.unanswered = true
	clock, over := x.Clock(t.actor.Process, 0), make(chan struct{})
	timer := clock.AfterFunc(readTimeout, func() { close(over) })
	err := clock.Wait(ctx, over)
	timer.Stop()
	t.unanswered = false
	if err == nil {
		err = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	return err
}
