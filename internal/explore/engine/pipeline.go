package engine

import (
	"slices"

	"lockstep/internal/explore/simredis"
)

// A pipeline is sent at once, and its commands take effect one after the other: each is a step, and others may come between. Their sender
// has nothing to do with that. It waits for all replies, and what it has sent takes effect if it is paused, or dead, too, unless its
// connection breaks: then the rest never arrives. A transaction is one step.

// ConnectionReset is what a recorder is told for the reply to the rest of a pipeline whose connection is broken.
const ConnectionReset = "connection reset"

// Next implements simredis.Network.
func (n network) AwaitNext() error {
	t := n.x.callingTask("a command")
	if t == nil {
		return ErrBlind
	}
	t.faultKind = Moves
	return park(t)
}

// split parts what t has sent into what takes effect now, and what follows.
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

// midway reports whether a part of t's pipeline has taken effect, and the rest is under way.
func (t *Task) isMidPipeline() bool { return len(t.pipelineRest) > 0 && !t.Ended() }

// orphaned is the rest of a pipeline for which nobody waits. Its connection may be broken.
func markLosable(rest []sentCommand) []sentCommand {
	for i := range rest {
		rest[i].losable = true
	}
	return rest
}

// breakOff lets the rest of t's pipeline never arrive.
func (t *Task) dropLateRest() {
	first := t.x.lateCommands[t.firstLate()]
	if t.x.Recorder != nil {
		t.x.Recorder.Sending(first.server.Index, first.commands)
	}
	t.x.lateCommands = slices.DeleteFunc(slices.Clone(t.x.lateCommands), func(l sentCommand) bool {
		return l.task == t && l.conn == first.conn && l.losable
	})
}

// reset breaks the connections to a server that is gone, or has begun anew: the rest of a pipeline never arrives there.
func (x *Execution) breakConnections(s *simredis.Server) {
	x.lateCommands = slices.DeleteFunc(slices.Clone(x.lateCommands), func(l sentCommand) bool { return l.server == s && l.losable })
	for _, t := range x.tasks {
		if t.isMidPipeline() && !t.connBroken && t.server == s.Index && !t.actor.Dead() {
			t.connBroken = true
			x.readyTasks = append(x.readyTasks, t)
		}
	}
}

// isCutOff shows the command that does not come to its server any more, if it is what the step was to do.
func (n network) recordReset(c sentCommand) {
	if last := n.x.schedule[len(n.x.schedule)-1]; n.x.Recorder == nil || !last.Kind.IsOfTask() || int(last.ID) != c.task.id {
		return
	}
	n.x.Recorder.Sending(c.server.Index, c.commands)
	n.x.Recorder.Replied([]byte("-"+ConnectionReset+"\r\n"), 1)
}
