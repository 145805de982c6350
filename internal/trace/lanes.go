package trace

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	gutter     = 5 // for the step's number
	column     = 9 // from one actor's lifeline to the next
	nodeColumn = 7 // from one server's to the next
)

// at returns where an actor's lifeline is, and that of the first server behind the last of them.
func (t Trace) at(actor int) int { return gutter + column*actor }

// server returns where a server's lifeline is: a node's, counted from 1, or that of the Redis with the stock, which is the last.
func (t Trace) server(node int) int {
	if node == 0 {
		node = t.Nodes + 1
	}
	return t.at(len(t.Actors)) + nodeColumn*(node-1)
}

func (t Trace) width() int { return t.server(0) + 1 }

// serverNames returns those of the nodes, and of Redis.
func (t Trace) serverNames() (all []string) {
	for i := range t.Nodes {
		all = append(all, fmt.Sprintf("node%d", i+1))
	}
	return append(all, "Redis")
}

// head returns the names above the lifelines.
func (t Trace) head() string {
	const half = len("Redis") / 2
	head := slices.Repeat([]rune{' '}, t.width()+half)
	for i, name := range t.Actors {
		copy(head[t.at(i):], []rune(name))
	}
	for i, name := range t.serverNames() {
		copy(head[t.at(len(t.Actors))+nodeColumn*i-half:], []rune(name))
	}
	return strings.TrimRight(string(head), " ")
}

// rule returns a line across all lifelines, which names a fault.
func (t Trace) rule(fault string) []rune {
	label := " " + fault + " "
	room := t.width() - gutter - uniseg.StringWidth(label)
	left := max(room/2, 2)
	right := max(room-left, 2)
	return []rune(strings.Repeat(" ", gutter) + strings.Repeat("┄", left) + label + strings.Repeat("┄", right))
}

// lifelines draws one line of all of them.
func (t Trace) lifelines(step Step) []rune {
	row := slices.Repeat([]rune{' '}, t.width())
	for i, stance := range step.Standing {
		row[t.at(i)] = map[Stance]rune{Absent: ' ', Outside: '│', Inside: '┃', Paused: '┊', PausedInside: '┋', Ended: ' ', Dead: ' '}[stance]
	}
	for i, node := range step.Nodes {
		row[t.server(i+1)] = node.sign()
	}
	row[t.server(0)] = '│'
	return row
}

// sign returns a node on its lifeline: the one whose lock is there, by the end of its name, as replicas are r1, r2, ….
func (n Node) sign() rune {
	switch {
	case n.Health == Crashed:
		return ' '
	case n.Health == Hung:
		return '┊'
	case n.Lock != "" && n.Lock != Nobody:
		sign, _ := utf8.DecodeLastRuneInString(n.Lock)
		return sign
	default:
		return '│'
	}
}

// mark draws what happens in a step: an arrow to a server, or a sign on a lifeline.
func (t Trace) mark(row []rune, step Step) {
	actor := slices.Index(t.Actors, step.Actor)
	switch {
	case step.Kind == KindFailover:
		row[t.server(0)] = '✗'
	case step.Kind == KindCrashes:
		row[t.server(step.Node)] = '✗'
	case step.Kind == KindRestarts || step.Kind == KindEvicts || step.Kind == KindLags:
		row[t.server(step.Node)] = '○'
	case actor < 0:
		for node := range t.Nodes + 1 {
			if at := t.server(node); row[at] != ' ' { // it is there
				row[at] = '◷'
			}
		}
	case step.Command != "":
		t.arrow(row, step, t.at(actor))
		t.drawFault(row, step)
	case slices.Contains([]string{KindEnds, KindWaits, KindBegins, KindSubscribes, KindLeaves, KindTimesOut}, step.Kind):
		row[t.at(actor)] = '○'
	case step.Kind == KindClock:
		row[t.at(actor)] = '◷'
	case step.Kind == KindWoken:
		row[t.at(actor)] = '!'
	}
}

// arrow draws a command on its way from a lifeline to its server, as far as it comes.
func (t Trace) arrow(row []rune, step Step, from int) {
	to := t.server(step.Node)
	line, head := '─', '▶'
	switch step.Kind {
	case KindLostRequest, KindNeverComes:
		head = '✗'
	case KindLate:
		head = '…'
	}
	if step.afterwards() {
		line = '┄'
	} else {
		row[from] = '├'
	}
	for x := from + 1; x < to; x++ {
		if row[x] == ' ' {
			row[x] = line
		}
		if crossed := map[rune]rune{'│': '┼', '┃': '╂', '┊': '┼', '┋': '╂'}[row[x]]; crossed != 0 {
			row[x] = crossed
		}
	}
	row[to-1] = head
}

// drawFault draws what happens to the node that a command is for, or that nobody is there.
func (t Trace) drawFault(row []rune, step Step) {
	if step.Node == 0 {
		return
	}
	at := t.server(step.Node)
	switch {
	case step.Nodes[step.Node-1].Health == Crashed:
		row[at] = '✗'
	case step.Kind == KindNodeClock:
		row[at] = '◷'
	case step.Fault == "node-restart":
		row[at] = '○'
	}
}

// bury ends the lifelines of those who died.
func (t Trace) bury(row []rune, step, before Step) {
	for i, stance := range step.Standing {
		if stance == Dead && before.Standing[i] != Dead {
			row[t.at(i)] = '✗'
		}
	}
}
