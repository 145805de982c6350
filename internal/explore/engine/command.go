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
type network struct{ x *Execution }

// Network returns what clients send their commands by.
func (x *Execution) Network() simredis.Network { return network{x} }

// Send implements simredis.Network: it holds commands back until the schedule lets them go. From then on they are on their way, whatever
// becomes of their context: go-redis looks at that before it writes, and not after.
func (n network) Send(ctx context.Context, server int, cmds []redis.Cmder, deliver func(context.Context) error) error {
	t := n.x.running("a command")
	if t == nil {
		return ErrBlind
	}
	if err := checkTimeless(ctx); err != nil {
		n.x.Fail(err)
	}
	n.x.Journal.jotCommands(cmds)
	t.last = nil
	if err := ctx.Err(); err != nil {
		return n.unsent(t, err)
	}
	t.unsent = 0
	return n.transmit(ctx, t, server, cmds, deliver)
}

// unsent returns what a command gets whose context has ended. One that tries again at once, and again, would never end.
func (n network) unsent(t *Task, err error) error {
	if t.unsent++; t.unsent <= maxUnsent {
		return err
	}
	n.x.Fail(fmt.Errorf("%w: its context has ended, and it tries again and again without a pause%s", ErrBlind, line()))
	t.coroutine.Condemn()
	return park(t)
}

// transmit sends what is not held back by its sender's context. A client that sends a command again does so, whatever became of that.
func (n network) transmit(ctx context.Context, t *Task, server int, cmds []redis.Cmder, deliver func(context.Context) error) error {
	t.pending, t.to, t.fate = cmds, server, Moves
	t.callByNode(server)
	t.locate()
	if err := park(t); err != nil {
		return err
	}
	n.record(server, cmds)
	s := n.x.Cluster.Servers()[server]
	if s.Health == simredis.Crashed {
		t.pending = nil
		return n.refuse(t, s)
	}
	err := deliver(context.WithoutCancel(ctx))
	if t.fate.silent() || t.cut {
		t.noteOf(s, "lost", "", "")
		t.itsRound().lost = true
	}
	t.pending, t.cut = nil, false
	switch t.fate {
	case Resends:
		return n.transmit(ctx, t, server, cmds, deliver)
	case PausesAfter:
		t.actor.Process.paused = true
	case DiesAfter:
		t.actor.Process.dead = true
		t.coroutine.Condemn()
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
		return n.loseReply(ctx, t)
	}
	return err
}

// record shows the recorder, if there is one, what is on its way to a server.
func (n network) record(server int, commands []redis.Cmder) {
	if n.x.Recorder != nil {
		n.x.Recorder.Sending(server, commands)
	}
}

// Mine implements simredis.Network.
func (n network) Mine() bool {
	t := n.x.current.Load()
	return t != nil && t.hasTurn()
}

// Refuse implements simredis.Network.
func (n network) Refuse(err error) { n.x.Fail(fmt.Errorf("%w%s", err, line())) }

// Receive implements simredis.Network: a command takes effect.
func (n network) Receive(
	conn *simredis.Conn, server int, command *simredis.Command, rest []*simredis.Command,
) ([]byte, error) {
	s, t := n.x.Cluster.Servers()[server], n.x.running("a command")
	if t == nil {
		return nil, ErrBlind
	}
	c, follow := t.split(s, conn, command, rest)
	t.rest = nil
	if t.cut {
		n.isCutOff(c)
		return nil, io.ErrUnexpectedEOF
	}
	if t.fate == LosesRequest || t.fate == Delays {
		n.record(server, t.pending)
		if t.fate == Delays {
			n.x.late = append(append(n.x.late, c), follow...)
		}
		return nil, io.ErrUnexpectedEOF
	}
	n.record(server, c.commands)
	switch t.fate {
	case Unsynced:
		n.x.Cluster.Lag(s)
	case Unsaved:
		n.x.Cluster.Save(s)
	default:
	}
	before, version, r := s.Holds, n.x.Cluster.Version(), t.itsRound()
	a, err := n.x.effect(c)
	if err != nil {
		n.x.Fail(fmt.Errorf("%w%s", err, line()))
		return nil, err
	}
	t.noteOf(s, "reply", inPast(t, s), string(a.Reply))
	if n.x.Cluster.Version() != version && r.changes.All == 0 {
		r.before = n.x.Cluster.Contents()
		r.before[s.Index] = before
	}
	r.did = r.did || !s.Holds.SameKeys(before)
	t.recordCommand(question{s, command}, version)
	r.changes = r.changes.Plus(n.x.Cluster.Version().Minus(version))
	r.timed, r.stock = r.timed || n.x.Cluster.IsTimed(s, command), r.stock || !isLocksAlone(command)
	if n.x.Recorder != nil && len(follow) > 0 {
		n.x.Recorder.Follow(t.pending[len(c.commands):], t.fate != DiesAfter)
	}
	switch {
	case t.fate == LosesReply || t.fate == Resends || s.Health == simredis.Hung:
		n.x.late = append(n.x.late, orphaned(follow)...)
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
func (x *Execution) effect(c sent) (*simredis.Answer, error) {
	a, err := x.Cluster.Ask(c.server, c.conn, c.from.actor.Index, x.now, c.command)
	if err != nil {
		return nil, err
	}
	next, err := x.Judge.Book(c.server.Holds, a.Then)
	if err == nil && next != c.server.Holds {
		err = itsKeys(c.command, next)
	}
	if err != nil {
		return nil, err
	}
	if x.Recorder != nil {
		x.Recorder.Replied(a.Reply, len(c.commands))
	}
	x.becomes(c.server, next, c.from.actor)
	publish(a.Published, x.listeners)
	return a, nil
}

// refuse answers for a crashed node.
func (n network) refuse(t *Task, s *simredis.Server) error {
	t.noteOf(s, "refused", inPast(t, s), "")
	if n.x.Recorder != nil {
		n.x.Recorder.Replied([]byte("-connection refused\r\n"), 1)
	}
	t.recordCommand(question{server: s}, n.x.Cluster.Version())
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// readTimeout is how long a client waits for a reply, as the shop's do.
const readTimeout = 3 * time.Second

// loseReply answers for a hung node: what was sent takes effect, and its sender waits until its context ends, or its client gives up.
func (n network) loseReply(ctx context.Context, t *Task) error {
	t.unanswered = true
	clock, over := t.actor.Process.Clock(0), make(chan struct{})
	timer := clock.AfterFunc(readTimeout, func() { close(over) })
	err := clock.Wait(ctx, over)
	timer.Stop()
	t.unanswered = false
	if err == nil {
		err = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	return err
}
