package trace

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	widest = 120 // a line of the diagram
	room   = 40  // for words, however many lifelines there are
)

// words are the lines beside a step. A command that is too long is cut, but in full.
func (t Trace) words(step, before Step, full bool) (lines []string) {
	fits := max(widest-t.width()-3, room)
	if step.Command != "" {
		if !full {
			step.Command = cut(t.short(step.Command), fits-utf8.RuneCountInString(outcome(step)))
		}
		lines = append(lines, wrap(t.short(step.Command+outcome(step)), fits)...)
	}
	if step.Says != "" {
		lines = append(lines, wrap(t.short(step.Says), fits)...)
	}
	switch {
	case full:
		lines = append(lines, wrap(fmt.Sprintf("[%s; at %v]", step.State(), time.Duration(step.At)), fits)...)
	case t.Nodes > 0: // whose the lock is stands on the lifelines
		if step.Stock != before.Stock {
			lines = append(lines, "[stock: "+step.Stock+"]")
		}
	case step.State() != before.State():
		lines = append(lines, wrap("["+step.State()+"]", fits)...)
	}
	if len(lines) == 0 {
		return []string{step.Token}
	}
	return lines
}

// outcome is a command's reply, what became of either, and whose it is.
func outcome(step Step) string {
	reply := " → " + step.Reply
	switch step.Kind {
	case KindLostRequest, KindLate:
		reply = ", " + fate(step.Kind)
	case KindLostReply, KindReadsLate, KindResends, KindArrives:
		reply += ", " + fate(step.Kind)
	default:
		if step.silent() {
			reply += ", never sent"
		}
	}
	return reply + step.whose()
}

// whose says whose command it is, if its actor has started a goroutine for that. Those for a node have its lifeline.
func (s Step) whose() string {
	if s.Task == "" || s.Node > 0 {
		return ""
	}
	return " (" + s.Actor + "." + s.Task + ")"
}

// fate is what became of a command, or of its reply.
func fate(kind string) string {
	return map[string]string{
		KindLostReply: "lost on the way", KindResends: "lost on the way", KindReadsLate: "unread",
		KindLostRequest: "lost on the way", KindLate: "not there yet", KindArrives: "which nobody waits for",
	}[kind]
}

// short writes owners as their actors' names.
func (t Trace) short(text string) string { return strings.ReplaceAll(text, "distributedLock:", "") }

// cut leaves words out at the end.
func cut(text string, fits int) string {
	if utf8.RuneCountInString(text) <= fits {
		return text
	}
	short := ""
	for word := range strings.FieldsSeq(text) {
		if short != "" && utf8.RuneCountInString(short+" "+word+" …") > fits {
			break
		}
		short = strings.TrimSpace(short + " " + word)
	}
	return short + " …"
}

// wrap breaks a text into lines. Those that go on with it are indented.
func wrap(text string, fits int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > fits {
			lines, line = append(lines, line), " "
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// fault names the step's fault. A failover begins with the first command that the replica does not get.
func (s Step) fault() string {
	if s.Kind == KindUnsynced {
		return s.Fault + " to come"
	}
	return s.Fault
}

// State says what is so after a step.
func (s Step) State() string {
	held := s.held()
	if s.Stock == "" {
		return held
	}
	return held + "; stock: " + s.Stock
}

// held says whose the lock is.
func (s Step) held() string {
	switch {
	case len(s.Nodes) > 0:
		return s.heldOnNodes()
	case s.Lock == "":
		return "no lock"
	case s.Expires == 0:
		return "lock: " + s.Lock
	default:
		return fmt.Sprintf("lock: %s, for %v", s.Lock, time.Duration(s.Expires).Round(time.Millisecond))
	}
}

func (s Step) heldOnNodes() string {
	var all []string
	for i, node := range s.Nodes {
		what := node.Lock
		switch {
		case node.Health == Crashed:
			what = "down"
		case node.Lock == "":
			what = "no lock"
		}
		if node.Health == Hung {
			what += " (hangs)"
		}
		all = append(all, fmt.Sprintf("node %d: %s", i+1, what))
	}
	return strings.Join(all, ", ")
}
