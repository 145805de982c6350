package trace

import (
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
	line("participant Redis")
	everybody := t.Actors[0] + ",Redis"
	active := make([]bool, len(t.Actors))
	for _, step := range t.Steps {
		over := step.Actor
		if over == "" {
			over = everybody
		}
		t.command(step, line)
		for i, name := range t.Actors {
			switch inside := step.Standing[i] == Inside || step.Standing[i] == PausedInside; {
			case inside && !active[i]:
				line("activate %s", name)
			case !inside && active[i]:
				line("deactivate %s", name)
			}
			active[i] = step.Standing[i] == Inside || step.Standing[i] == PausedInside
		}
		if step.Says != "" {
			line("Note over %s: %s", over, t.plain(step.Says))
		}
	}
	if t.Verdict != "" {
		line("Note over %s: ✗ %s", everybody, t.plain(t.Verdict))
	}
	return b.String()
}

// command draws what a step sends, and its reply.
func (t Trace) command(step Step, line func(format string, args ...any)) {
	if step.Command == "" {
		return
	}
	switch step.Kind {
	case KindLostRequest, KindLate:
		line("%s-xRedis: %s, %s", step.Actor, t.plain(step.Command), fate(step.Kind))
		return
	case KindArrives:
		line("%s-)Redis: %s, %s", step.Actor, t.plain(step.Command), fate(step.Kind))
		return
	default:
		line("%s->>Redis: %s", step.Actor, t.plain(step.Command))
	}
	switch step.Kind {
	case KindCommand, KindUnsynced, KindNodeClock:
		line("Redis-->>%s: %s", step.Actor, t.plain(step.Reply))
	case KindLostReply, KindResends:
		line("Redis--x%s: %s, lost on the way", step.Actor, t.plain(step.Reply))
	default: // nobody is there to get it
	}
}

// plain keeps a text from being taken for Mermaid's own signs.
func (t Trace) plain(text string) string {
	return strings.NewReplacer(";", ",", "#", "").Replace(t.short(text))
}
