package trace

import (
	"fmt"
	"slices"
	"strings"
)

// Sequence draws a trace as a sequence diagram for a terminal: a lifeline for each actor, and one for Redis or for each node of it,
// time going down. A thick lifeline is an actor that believes it holds the lock; a letter on a node's is the actor whose lock is there. A
// fault has a rule across all lifelines. What is so after a step is said where it has changed, or, in full, after each.
func (t Trace) Sequence(full bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", t.head())
	before := Step{Standing: slices.Repeat([]Stance{Absent}, len(t.Actors))}
	for i, step := range t.Steps {
		for j, row := range t.rows(step, before, full) {
			number := ""
			if j == 0 {
				number = fmt.Sprint(i + 1)
			}
			fmt.Fprintf(&b, "%3s%s\n", number, strings.TrimRight(string(row.lanes[3:])+"   "+row.text, " "))
		}
		before = step
	}
	if t.Verdict != "" {
		fmt.Fprintf(&b, "  ✗  %s\n", t.Verdict)
	}
	return b.String()
}

// Legend explains the lines of a diagram.
func (t Trace) Legend() string {
	says := "A thick line is a sale that believes that it holds the lock; a dashed line is a paused sale.\n"
	if t.Nodes > 0 {
		says += "The letter on a node's line is the sale whose lock is there; a dashed line is a node that hangs.\n"
	}
	return says
}

// row is one line of the diagram.
type row struct {
	lanes []rune // with room for the number before
	text  string
}

// rows draws a step.
func (t Trace) rows(step, before Step, full bool) (all []row) {
	if step.Fault != "" {
		all = append(all, row{lanes: t.rule(step.fault())})
	}
	for i, text := range t.words(step, before, full) {
		lanes := t.lifelines(step)
		if i == 0 {
			t.mark(lanes, step)
		}
		if i == min(1, len(step.Command)) { // below the command
			t.bury(lanes, step, before)
		}
		all = append(all, row{lanes, text})
	}
	return all
}
