package trace

import (
	"fmt"
	"slices"
	"strings"
)

// Sequence returns the trace as a sequence diagram for a terminal: a lifeline for each actor, for Redis, and for each node, with time going
// down. A lifeline is thick while its actor believes that it holds the lock; a letter on a node's lifeline names the actor whose lock is
// there. A fault is a line across all lifelines. Waits and polls that bring nothing new are one row.
func (t Trace) Sequence() string { return t.draw(false, t.countFolded) }

// EachStep is like Sequence, but has a row for each step, even if the step changes nothing. If full is true, the state follows each step,
// and no command is shortened.
func (t Trace) EachStep(full bool) string { return t.draw(full, func(int) int { return 0 }) }

// draw returns the diagram. If fold returns n > 0 for step i, n steps from i on share one row.
func (t Trace) draw(full bool, fold func(i int) int) string {
	var b strings.Builder
	line := func(number string, r row) {
		fmt.Fprintf(&b, "%3s%s\n", number, strings.TrimRight(string(r.lanes[3:])+"   "+r.text, " "))
	}
	fmt.Fprintf(&b, "%s\n", t.head())
	before := Step{Standing: slices.Repeat([]Stance{Absent}, len(t.Actors))}
	for i := 0; i < len(t.Steps); i++ {
		step := t.Steps[i]
		if n := fold(i); n > 0 {
			line("⋮", row{t.lifelines(step), t.summary(i, n)})
			i += n - 1
			before = t.Steps[i]
			continue
		}
		for j, row := range t.rows(step, before, full) {
			number := ""
			if j == 0 {
				number = fmt.Sprint(i + 1)
			}
			line(number, row)
		}
		before = step
	}
	if t.Verdict != "" {
		fmt.Fprintf(&b, "  ✗  %s\n", t.Verdict)
	}
	return b.String()
}

// row is one line of the diagram.
type row struct {
	lanes []rune // lifelines; the first gutter columns are left blank for the number
	text  string // text beside the lifelines
}

// rows returns the lines of the diagram for one step.
func (t Trace) rows(step, before Step, full bool) (all []row) {
	if step.Fault != "" {
		all = append(all, row{lanes: t.rule(t.faultLabel(step))})
	}
	for i, text := range t.description(step, before, full) {
		lanes := t.lifelines(step)
		if i == 0 {
			t.drawEvent(lanes, step)
		}
		if i == min(1, len(step.Command)) { // the row below the command, if there is one
			t.endDeadLifelines(lanes, step, before)
		}
		all = append(all, row{lanes, text})
	}
	return all
}
