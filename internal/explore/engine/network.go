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
	"lockstep/internal/language"
)

// hidesReply reports whether the fault k keeps the reply from the sender.
func (k Kind) hidesReply() bool {
	return k == LosesReply || k == LosesRequest || k == Delays || k == Resends
}

// maxExpiredSends is the number of consecutive commands that a task may try to send after their context has ended. Code that reacts to the
// error sends far fewer than a thousand.
const maxExpiredSends = 1000

// network is the simredis.Network of an execution.
type network struct{ x *Execution }

// Network returns the network that clients send their commands through.
func (x *Execution) Network() simredis.Network { return network{x} }

// Send implements simredis.Network. It holds commands back until the schedule releases them. From then on they are under way even if
// their context ends: go-redis checks the context before it writes, and not after.
func (n network) Send(ctx context.Context, server int, cmds []redis.Cmder, deliver func(context.Context) error) error {
	t := n.x.callingTask(commandCall)
	if t == nil {
		return ErrBlind
	}
	if err := checkTimeless(ctx); err != nil {
		n.x.Fail(err)
	}
	n.x.Journal.recordCommands(cmds)
	t.lastTimer = nil
	if err := ctx.Err(); err != nil {
		return n.refuseExpired(t, err)
	}
	t.expiredSends = 0
	return n.transmit(ctx, t, server, cmds, deliver)
}

// refuseExpired returns the error for a command whose context has ended. If a task retries forever without a pause, the execution fails.
func (n network) refuseExpired(t *Task, err error) error {
	if t.expiredSends++; t.expiredSends <= maxExpiredSends {
		return err
	}
	lines := callerLines()
	n.x.Fail(language.Translate(fmt.Errorf("%w: its context has ended, and it keeps retrying without a pause%s", ErrBlind, lines),
		"context 已经结束，代码却不停重试，中间没有等待%s", lines))
	t.coroutine.Condemn()
	return park(t)
}

// transmit sends commands once the schedule releases them. For the fault Resends it sends them again, even if ctx has ended meanwhile: a
// client does the same.
func (n network) transmit(ctx context.Context, t *Task, server int, cmds []redis.Cmder, deliver func(context.Context) error) error {
	t.pending, t.server, t.faultKind = cmds, server, Moves
	t.nameByNode(server)
	t.recordCallSite()
	if err := park(t); err != nil {
		return err
	}
	n.recordSending(server, cmds)
	s := n.x.Cluster.Servers()[server]
	if s.Health == simredis.Crashed {
		t.pending = nil
		return n.refuseConnection(t, s)
	}
	err := deliver(context.WithoutCancel(ctx))
	if t.faultKind.hidesReply() || t.connBroken {
		t.recordReply(s, "lost", "", "")
		t.currentRound().replyLost = true
	}
	t.pending, t.connBroken = nil, false
	switch t.faultKind {
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
		t.replyUnread = true
		if err := park(t); err != nil {
			return err
		}
		t.replyUnread = false
	}
	if s.Health == simredis.Hung {
		return n.awaitTimeout(ctx, t)
	}
	return err
}

// recordSending tells the recorder, if there is one, which commands are on their way to a server.
func (n network) recordSending(server int, commands []redis.Cmder) {
	if n.x.Recorder != nil {
		n.x.Recorder.OnSend(server, commands)
	}
}

// HasTurn implements simredis.Network: it reports whether the calling goroutine is the running task.
func (n network) HasTurn() bool {
	t := n.x.current.Load()
	return t != nil && t.hasTurn()
}

// ReportMisuse implements simredis.Network: it fails the execution.
func (n network) ReportMisuse(err error) { n.x.Fail(fmt.Errorf("%w%s", err, callerLines())) }

// Receive implements simredis.Network: it makes a command take effect and returns the reply, unless a fault prevents that.
func (n network) Receive(
	conn *simredis.Conn, server int, command *simredis.Command, rest []*simredis.Command,
) ([]byte, error) {
	s, t := n.x.Cluster.Servers()[server], n.x.callingTask(commandCall)
	if t == nil {
		return nil, ErrBlind
	}
	c, follow := t.split(s, conn, command, rest)
	t.pipelineRest = nil
	if t.connBroken {
		n.recordReset(c)
		return nil, io.ErrUnexpectedEOF
	}
	if t.faultKind == LosesRequest || t.faultKind == Delays {
		n.recordSending(server, t.pending)
		if t.faultKind == Delays {
			n.x.lateCommands = append(append(n.x.lateCommands, c), follow...)
		}
		return nil, io.ErrUnexpectedEOF
	}
	n.recordSending(server, c.commands)
	switch t.faultKind {
	case StopsReplication:
		n.x.Cluster.StopReplication(s)
	case StopsSnapshots:
		n.x.Cluster.TakeSnapshot(s)
	default:
	}
	before, version, r := s.State, n.x.Cluster.Version(), t.currentRound()
	a, err := n.x.execute(c)
	if err != nil {
		n.x.Fail(fmt.Errorf("%w%s", err, callerLines()))
		return nil, err
	}
	t.recordReply(s, "reply", requesterLabel(t, s), string(a.Reply))
	if n.x.Cluster.Version() != version && r.ownChanges.All == 0 {
		r.serversBefore = n.x.Cluster.Contents()
		r.serversBefore[s.Index] = before
	}
	r.wrote = r.wrote || !s.State.SameKeys(before)
	t.recordCommand(query{s, command}, version)
	r.ownChanges = r.ownChanges.Plus(n.x.Cluster.Version().Minus(version))
	r.timeDependent, r.usedOtherKeys = r.timeDependent || n.x.Cluster.DependsOnTime(s, command), r.usedOtherKeys || !usesOnlyLockKeys(command)
	if n.x.Recorder != nil && len(follow) > 0 {
		n.x.Recorder.OnPipelineRest(t.pending[len(c.commands):], t.faultKind != DiesAfter)
	}
	switch {
	case t.faultKind == LosesReply || t.faultKind == Resends || s.Health == simredis.Hung:
		n.x.lateCommands = append(n.x.lateCommands, markDroppable(follow)...)
		return nil, io.ErrUnexpectedEOF
	case len(follow) == 0:
		return a.Reply, nil
	case t.faultKind == DiesAfter: // The connection ends with the process.
		return nil, io.ErrUnexpectedEOF
	case t.faultKind == PausesAfter:
		t.actor.Process.paused = true
	}
	t.pipelineRest, t.pending = follow, t.pending[len(c.commands):]
	return a.Reply, nil
}

// execute makes a command take effect.
func (x *Execution) execute(c sentCommand) (*simredis.Answer, error) {
	a, err := x.Cluster.EvaluateOnConn(c.server, c.conn, c.task.actor.Index, x.now, c.command)
	if err != nil {
		return nil, err
	}
	next, err := x.Judge.RecordOrders(c.server.State, a.NewState)
	if err == nil && next != c.server.State {
		err = checkKeys(c.command, next)
	}
	if err != nil {
		return nil, err
	}
	if x.Recorder != nil {
		x.Recorder.OnReply(a.Reply, len(c.commands))
	}
	x.setState(c.server, next, c.task.actor)
	publish(a.Published, x.listeners)
	return a, nil
}

// refuseConnection returns the error that a crashed node answers with.
func (n network) refuseConnection(t *Task, s *simredis.Server) error {
	t.recordReply(s, "refused", requesterLabel(t, s), "")
	if n.x.Recorder != nil {
		n.x.Recorder.OnReply([]byte("-connection refused\r\n"), 1)
	}
	t.recordCommand(query{server: s}, n.x.Cluster.Version())
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// readTimeout is the time that a client waits for a reply, the same as in the shop (package redisclient).
const readTimeout = 3 * time.Second

// awaitTimeout returns the error for a command to a hung node: the command takes effect, and its sender waits until its context ends or
// the read timeout is over.
func (n network) awaitTimeout(ctx context.Context, t *Task) error {
	t.awaitsReply = true
	clock, timedOut := t.actor.Process.Clock(0), make(chan struct{})
	timer := clock.AfterFunc(readTimeout, func() { close(timedOut) })
	err := clock.Wait(ctx, timedOut)
	timer.Stop()
	t.awaitsReply = false
	if err == nil {
		err = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	return err
}
