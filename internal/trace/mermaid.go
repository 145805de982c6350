package trace

import (
	"cmp"
	"fmt"
	"strings"
)

// Mermaid returns the trace as a Mermaid sequence diagram. An actor is active while it believes that it holds the lock.
func (t Trace) Mermaid() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	b.WriteString("sequenceDiagram\n")
	for _, name := range t.Actors {
		line("participant %s", name)
	}
	for _, name := range t.serverNames() {
		line("participant %s", name)
	}
	everybody := t.Actors[0] + ",Redis"
	before := Step{Standing: make([]Stance, len(t.Actors))}
	for i := 0; i < len(t.Steps); i++ {
		step := t.Steps[i]
		if n := t.countFolded(i); n > 0 {
			line("Note over %s: ⋮ %s", everybody, t.summary(i, n))
			i += n - 1
			continue
		}
		if step.Fault != "" {
			line("Note over %s: ┄┄ %s ┄┄", everybody, t.faultLabel(step))
		}
		t.drawCommand(step, line)
		t.drawActivations(step, before, line)
		if step.Says != "" {
			line("Note over %s: %s", cmp.Or(step.Actor, everybody), t.mermaidText(step.Says))
		}
		before = step
	}
	if t.Verdict != "" {
		line("Note over %s: ✗ %s", everybody, t.mermaidText(t.Verdict))
	}
	return b.String()
}

// drawActivations writes which actors start in this step to believe that they hold the lock, and which stop.
func (t Trace) drawActivations(step, before Step, line func(format string, args ...any)) {
	for i, name := range t.Actors {
		believes, believed := step.Standing[i].believesHoldingLock(), before.Standing[i].believesHoldingLock()
		switch {
		case believes && !believed:
			line("activate %s", name)
		case !believes && believed:
			line("deactivate %s", name)
		}
	}
}

// believesHoldingLock reports whether an actor believes that it holds the lock.
func (s Stance) believesHoldingLock() bool { return s == Inside || s == PausedInside }

// drawCommand writes the command of a step, and its reply.
func (t Trace) drawCommand(step Step, line func(format string, args ...any)) {
	if step.Command == "" {
		return
	}
	server := t.serverNames()[(step.Node+t.Nodes)%(t.Nodes+1)]
	sent := t.mermaidText(step.Command + step.taskLabel())
	switch step.Kind {
	case KindLostRequest, KindLate, KindNeverComes:
		line("%s-x%s: %s, %s", step.Actor, server, sent, t.deliveryNote(step.Kind))
		return
	case KindArrives:
		line("%s-)%s: %s, %s", step.Actor, server, sent, t.deliveryNote(step.Kind))
		return
	default:
		arrow := "->>"
		if step.SentEarlier {
			arrow = "-)"
		}
		line("%s%s%s: %s", step.Actor, arrow, server, sent)
	}
	switch reply := t.mermaidText(step.Reply); {
	case step.nodeHangs(): // The node sends no reply.
	case step.Kind == KindCommand || step.Kind == KindUnsynced || step.Kind == KindNodeClock:
		line("%s-->>%s: %s", server, step.Actor, reply)
	case step.Kind == KindLostReply || step.Kind == KindResends:
		line("%s--x%s: %s, %s", server, step.Actor, reply, t.deliveryNote(step.Kind))
	default: // The sender no longer waits for a reply.
	}
}

// nodeHangs reports whether the node of a step executes commands but never answers.
func (s Step) nodeHangs() bool { return s.Node > 0 && s.Nodes[s.Node-1].Health == Hung }

// mermaidText returns a text without owner prefixes and without the characters that Mermaid would take for its own syntax.
func (t Trace) mermaidText(text string) string {
	return strings.NewReplacer(";", ",", "#", "").Replace(t.shortenOwners(text))
}
