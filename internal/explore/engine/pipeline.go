package engine

import (
	"slices"

	"lockstep/internal/explore/simredis"
)

// A pipeline is sent at once, and its commands take effect one after the other: each is a step, and commands of others may come between.
// Its sender only waits for all replies: the commands take effect even if the sender is paused or dead. If its connection breaks, the rest
// never arrives. A transaction is one step.

// ConnectionReset is the reply that a recorder gets for the rest of a pipeline whose connection is broken.
const ConnectionReset = "connection reset"

// AwaitNext implements simredis.Network: it waits until the schedule lets the pipeline's next command take effect.
func (n network) AwaitNext() error {
	t := n.x.callingTask(commandCall)
	if t == nil {
		return ErrBlind
	}
	t.faultKind = Moves
	return park(t)
}

// split divides what t has sent into the command that takes effect now and the commands that follow.
func (t *Task) split(
	s *simredis.Server, conn *simredis.Conn, command *simredis.Command, rest []*simredis.Command,
) (now sentCommand, follow []sentCommand) {
	if len(rest) == 0 {
		return sentCommand{task: t, commands: t.pending, server: s, conn: conn, command: command}, nil
	}
	commands, all := t.pending, append([]*simredis.Command{command}, rest...)
	for i, c := range all {
		n := len(commands)
		if i < len(all)-1 {
			n = c.CommandCount()
		}
		follow = append(follow, sentCommand{task: t, commands: commands[:n], server: s, conn: conn, command: c})
		commands = commands[n:]
	}
	return follow[0], follow[1:]
}

// isMidPipeline reports whether a part of t's pipeline has taken effect, and the rest is under way.
func (t *Task) isMidPipeline() bool { return len(t.pipelineRest) > 0 && !t.Ended() }

// markDroppable marks commands that may never arrive, because their sender is gone and its connection may break.
func markDroppable(rest []sentCommand) []sentCommand {
	for i := range rest {
		rest[i].droppable = true
	}
	return rest
}

// dropLateRest drops the late rest of t's pipeline: it never arrives.
func (t *Task) dropLateRest() {
	first := t.x.lateCommands[t.firstLate()]
	if t.x.Recorder != nil {
		t.x.Recorder.OnSend(first.server.Index, first.commands)
	}
	t.x.lateCommands = slices.DeleteFunc(slices.Clone(t.x.lateCommands), func(l sentCommand) bool {
		return l.task == t && l.conn == first.conn && l.droppable
	})
}

// breakConnections breaks the connections to a server that crashed or restarted: the rest of a pipeline never arrives there.
func (x *Execution) breakConnections(s *simredis.Server) {
	x.lateCommands = slices.DeleteFunc(slices.Clone(x.lateCommands), func(l sentCommand) bool { return l.server == s && l.droppable })
	for _, t := range x.tasks {
		if t.isMidPipeline() && !t.connBroken && t.server == s.Index && !t.actor.Dead() {
			t.connBroken = true
			x.readyTasks = append(x.readyTasks, t)
		}
	}
}

// recordReset tells the recorder that c never arrives, if the current step is a step of c's task.
func (n network) recordReset(c sentCommand) {
	if last := n.x.schedule[len(n.x.schedule)-1]; n.x.Recorder == nil || !last.Kind.IsTaskStep() || int(last.ID) != c.task.id {
		return
	}
	n.x.Recorder.OnSend(c.server.Index, c.commands)
	n.x.Recorder.OnReply([]byte("-"+ConnectionReset+"\r\n"), 1)
}
