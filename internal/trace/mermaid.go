package trace

import (
	"cmp"
	"fmt"
	"strings"
)

// Mermaid draws a trace as a Mermaid sequence diagram. An actor is active while it believes that it holds the lock.
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
		if n := t.fold(i); n > 0 {
			line("Note over %s: ⋮ %s", everybody, t.folded(i, n))
			i += n - 1
			continue
		}
		if step.Fault != "" {
			line("Note over %s: ┄┄ %s ┄┄", everybody, t.fault(step))
		}
		t.command(step, line)
		t.activate(step, before, line)
		if step.Says != "" {
			line("Note over %s: %s", cmp.Or(step.Actor, everybody), t.plain(step.Says))
		}
		before = step
	}
	if t.Verdict != "" {
		line("Note over %s: ✗ %s", everybody, t.plain(t.Verdict))
	}
	return b.String()
}

// activate draws who believes, since a step, that it holds the lock, and who no longer does.
func (t Trace) activate(step, before Step, line func(format string, args ...any)) {
	for i, name := range t.Actors {
		switch now := step.Standing[i].inside(); {
		case now == before.Standing[i].inside():
		case now:
			line("activate %s", name)
		default:
			line("deactivate %s", name)
		}
	}
}

func (s Stance) inside() bool { return s == Inside || s == PausedInside }

// command draws what a step sends, and its reply.
func (t Trace) command(step Step, line func(format string, args ...any)) {
	if step.Command == "" {
		return
	}
	server := t.serverNames()[(step.Node+t.Nodes)%(t.Nodes+1)]
	sent := t.plain(step.Command + step.whose())
	switch step.Kind {
	case KindLostRequest, KindLate, KindNeverComes:
		line("%s-x%s: %s, %s", step.Actor, server, sent, t.fate(step.Kind))
		return
	case KindArrives:
		line("%s-)%s: %s, %s", step.Actor, server, sent, t.fate(step.Kind))
		return
	default:
		arrow := "->>"
		if step.Sent {
			arrow = "-)"
		}
		line("%s%s%s: %s", step.Actor, arrow, server, sent)
	}
	switch reply := t.plain(step.Reply); {
	case step.silent(): // nobody gets it
	case step.Kind == KindCommand || step.Kind == KindUnsynced || step.Kind == KindNodeClock:
		line("%s-->>%s: %s", server, step.Actor, reply)
	case step.Kind == KindLostReply || step.Kind == KindResends:
		line("%s--x%s: %s, %s", server, step.Actor, reply, t.fate(step.Kind))
	default: // nobody is there to get it
	}
}

// silent reports whether its node executes commands, and never answers.
func (s Step) silent() bool { return s.Node > 0 && s.Nodes[s.Node-1].Health == Hung }

// plain keeps a text from being taken for Mermaid's own signs.
func (t Trace) plain(text string) string {
	return strings.NewReplacer(";", ",", "#", "").Replace(t.short(text))
}
