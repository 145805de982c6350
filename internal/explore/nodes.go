package explore

import (
	"context"
	"net"
	"slices"
	"syscall"
)

// nodeFaults adds what may have happened to a node by the time r's command comes to it: before, nobody could tell.
func (w *world) nodeFaults(r *routine, add func(kind, int)) {
	if r.pending == nil || r.to == 0 || w.servers[r.to].health != well {
		return
	}
	if w.left.NodeCrash > 0 {
		add(nodeCrashes, r.id)
	}
	if w.left.NodeHang > 0 {
		add(nodeHangs, r.id)
	}
	if w.left.NodeRestart > 0 && len(w.servers[r.to].holds.keys) > 0 {
		add(nodeRestarts, r.id)
	}
}

// befalls lets one of them happen.
func (w *world) befalls(s *server, k kind) {
	switch k {
	case nodeCrashes:
		w.left.NodeCrash--
		s.health = crashed
	case nodeHangs:
		w.left.NodeHang--
		s.health = hung
	case nodeRestarts:
		w.left.NodeRestart--
		w.becomes(s, w.empty)
	default:
	}
}

// refuse is what a crashed node does.
func (w *world) refuse(r *routine, s *server) error {
	w.noteOf(r, s, "refused %s", w.inPast(r, s))
	w.story.reply([]byte("-connection refused\r\n"), 1)
	t := r.itsTry()
	t.commands++
	if t.commands == 1 {
		t.version = w.version
	}
	t.at, t.server, t.sent, t.reply = w.now, s, nil, nil
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// unanswer is what a hung node does: what was sent takes effect, and its sender waits until its context ends. That a client gives up
// by itself some time is left out: if it then tried again, schedules would have no end.
func (w *world) unanswer(ctx context.Context, r *routine) error {
	r.unanswered = true
	err := virtualClock{w, r.actor.replica, 0}.Wait(ctx, nil)
	r.unanswered = false
	return err
}

// asks reports whether a goroutine of p has still to hear from a node. Its client bounds that, and those that wait for it.
func (w *world) asks(p *replica) bool {
	return slices.ContainsFunc(w.routines, func(r *routine) bool {
		return r.actor.replica == p && !r.ended && (r.unanswered || r.pending != nil && r.to > 0)
	})
}
