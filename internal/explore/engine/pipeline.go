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
func (n network) Next() error {
	t := n.x.running("a command")
	if t == nil {
		return ErrBlind
	}
	t.fate = Moves
	return park(t)
}

// split parts what t has sent into what takes effect now, and what follows.
func (t *Task) split(
	s *simredis.Server, conn *simredis.Conn, command *simredis.Command, rest []*simredis.Command,
) (now sent, follow []sent) {
	if len(rest) == 0 {
		return sent{from: t, commands: t.pending, server: s, conn: conn, command: command}, nil
	}
	commands, all := t.pending, append([]*simredis.Command{command}, rest...)
	for i, c := range all {
		n := len(commands)
		if i < len(all)-1 {
			n = c.Size()
		}
		follow = append(follow, sent{from: t, commands: commands[:n], server: s, conn: conn, command: c})
		commands = commands[n:]
	}
	return follow[0], follow[1:]
}

// midway reports whether a part of t's pipeline has taken effect, and the rest is under way.
func (t *Task) midway() bool { return len(t.rest) > 0 && !t.Ended() }

// orphaned is the rest of a pipeline for which nobody waits. Its connection may be broken.
func orphaned(rest []sent) []sent {
	for i := range rest {
		rest[i].loose = true
	}
	return rest
}

// breakOff lets the rest of t's pipeline never arrive.
func (t *Task) breakOff() {
	first := t.x.late[t.oldest()]
	if t.x.Recorder != nil {
		t.x.Recorder.Sending(first.server.Index, first.commands)
	}
	t.x.late = slices.DeleteFunc(slices.Clone(t.x.late), func(l sent) bool { return l.from == t && l.conn == first.conn && l.loose })
}

// reset breaks the connections to a server that is gone, or has begun anew: the rest of a pipeline never arrives there.
func (x *Execution) reset(s *simredis.Server) {
	x.late = slices.DeleteFunc(slices.Clone(x.late), func(l sent) bool { return l.server == s && l.loose })
	for _, t := range x.tasks {
		if t.midway() && !t.cut && t.to == s.Index && !t.actor.Dead() {
			t.cut = true
			x.ready = append(x.ready, t)
		}
	}
}

// isCutOff shows the command that does not come to its server any more, if it is what the step was to do.
func (n network) isCutOff(c sent) {
	if last := n.x.taken[len(n.x.taken)-1]; n.x.Recorder == nil || !last.Kind.OfTask() || int(last.ID) != c.from.id {
		return
	}
	n.x.Recorder.Sending(c.server.Index, c.commands)
	n.x.Recorder.Replied([]byte("-"+ConnectionReset+"\r\n"), 1)
}
