package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	gutter = 5 // for the step's number
	column = 9 // from one lifeline to the next
)

// Sequence draws a trace as a sequence diagram for a terminal: a lifeline for each actor and one for Redis, time going down.
// A thick lifeline is an actor that believes it holds the lock. What is so after a step is said where it has changed, or, in
// full, after each.
func (t Trace) Sequence(full bool) string {
	var b strings.Builder
	head := slices.Repeat([]rune{' '}, t.width())
	for i, name := range t.Actors {
		copy(head[t.at(i):], []rune(name))
	}
	fmt.Fprintf(&b, "%s\n", strings.TrimRight(string(head), " ")+strings.Repeat(" ", column-3)+"Redis")
	before := Step{Standing: slices.Repeat([]Stance{Absent}, len(t.Actors))}
	for i, step := range t.Steps {
		for j, line := range t.words(step, before, full) {
			row := t.lifelines(step.Standing)
			if j == 0 {
				copy(row, []rune(fmt.Sprintf("%3d", i+1)))
				t.mark(row, step)
			}
			if j == min(1, len(step.Command)) { // below the last command
				t.bury(row, step, before)
			}
			fmt.Fprintf(&b, "%s\n", strings.TrimRight(string(row)+"   "+line, " "))
		}
		before = step
	}
	if t.Verdict != "" {
		fmt.Fprintf(&b, "  ✗  %s\n", t.Verdict)
	}
	return b.String()
}

func (t Trace) at(i int) int { return gutter + column*i }

func (t Trace) width() int { return t.at(len(t.Actors)) + 1 }

// lifelines draws one line of all of them.
func (t Trace) lifelines(standing []Stance) []rune {
	row := slices.Repeat([]rune{' '}, t.width())
	for i, stance := range standing {
		row[t.at(i)] = map[Stance]rune{Absent: ' ', Outside: '│', Inside: '┃', Paused: '┊', PausedInside: '┋', Ended: ' ', Dead: ' '}[stance]
	}
	row[t.width()-1] = '│'
	return row
}

// mark draws what happens in a step: an arrow to Redis, or a sign on a lifeline.
func (t Trace) mark(row []rune, step Step) {
	actor := slices.Index(t.Actors, step.Actor)
	switch {
	case step.Kind == KindFailover:
		row[t.width()-1] = '✗'
	case actor < 0:
		row[t.width()-1] = '◷'
	case step.Command != "":
		t.arrow(row, step, t.at(actor))
	case step.Kind == KindEnds || step.Kind == KindWaits || step.Kind == KindBegins || step.Kind == KindLeaves || step.Kind == KindTimesOut:
		row[t.at(actor)] = '○'
	case step.Kind == KindClock:
		row[t.at(actor)] = '◷'
	case step.Kind == KindWoken:
		row[t.at(actor)] = '!'
	}
}

// arrow draws a command on its way from a lifeline to Redis, as far as it comes.
func (t Trace) arrow(row []rune, step Step, from int) {
	to := t.width() - 1
	line, head := '─', '▶'
	switch step.Kind {
	case KindLostRequest:
		head = '✗'
	case KindLate:
		head = '…'
	case KindArrives:
		line = '┄'
	}
	if step.Kind != KindArrives { // its sender does something else by now
		row[from] = '├'
	}
	for x := from + 1; x < to; x++ {
		row[x] = map[rune]rune{'│': '┼', '┃': '╂', '┊': '┼', '┋': '╂'}[row[x]]
		if row[x] == 0 {
			row[x] = line
		}
	}
	row[to-1] = head
}

// bury ends the lifelines of those who died.
func (t Trace) bury(row []rune, step, before Step) {
	for i, stance := range step.Standing {
		if stance == Dead && before.Standing[i] != Dead {
			row[t.at(i)] = '✗'
		}
	}
}

// words are the lines beside a step.
func (t Trace) words(step, before Step, full bool) []string {
	var lines []string
	if step.Command != "" {
		lines = append(lines, t.short(sent(step)))
	}
	if step.Says != "" {
		lines = append(lines, t.short(step.Says))
	}
	switch state := step.State(); {
	case full:
		lines = append(lines, fmt.Sprintf("[%s; at %v]", state, time.Duration(step.At)))
	case state != before.State():
		lines = append(lines, "["+state+"]")
	}
	return lines
}

// sent writes a command, its reply, and what became of either.
func sent(step Step) string {
	switch step.Kind {
	case KindLostRequest, KindLate:
		return step.Command + ", " + fate(step.Kind)
	case KindLostReply, KindReadsLate, KindResends, KindArrives:
		return step.Command + " → " + step.Reply + ", " + fate(step.Kind)
	default:
		return step.Command + " → " + step.Reply
	}
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

// State says what is so after a step.
func (s Step) State() string {
	held := "no lock"
	if s.Lock != "" {
		held = "lock: " + s.Lock
		if s.Expires > 0 {
			held += fmt.Sprintf(", for %v", time.Duration(s.Expires).Round(time.Millisecond))
		}
	}
	if s.Stock == "" {
		return held
	}
	return held + "; stock: " + s.Stock
}
