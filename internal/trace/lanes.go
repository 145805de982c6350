package trace

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	gutter       = 5 // columns for the number of a step
	actorSpacing = 9 // columns from the lifeline of an actor to that of the next
	nodeSpacing  = 7 // columns from the lifeline of a server to that of the next
)

// actorColumn returns the column of an actor's lifeline. The first server is at the column of an actor after the last.
func (t Trace) actorColumn(actor int) int { return gutter + actorSpacing*actor }

// serverColumn returns the column of a server's lifeline. node is a 1-based node, or 0 for the Redis with the stock, which is the last
// server.
func (t Trace) serverColumn(node int) int {
	if node == 0 {
		node = t.Nodes + 1
	}
	return t.actorColumn(len(t.Actors)) + nodeSpacing*(node-1)
}

// width returns the number of columns of the lifelines.
func (t Trace) width() int { return t.serverColumn(0) + 1 }

// serverNames returns the names of the nodes, and of the Redis with the stock.
func (t Trace) serverNames() (all []string) {
	for i := range t.Nodes {
		all = append(all, fmt.Sprintf("node%d", i+1))
	}
	return append(all, "Redis")
}

// head returns the line with the names above the lifelines.
func (t Trace) head() string {
	const half = len("Redis") / 2
	head := slices.Repeat([]rune{' '}, t.width()+half)
	for i, name := range t.Actors {
		copy(head[t.actorColumn(i):], []rune(name))
	}
	for i, name := range t.serverNames() {
		copy(head[t.actorColumn(len(t.Actors))+nodeSpacing*i-half:], []rune(name))
	}
	return strings.TrimRight(string(head), " ")
}

// rule returns a horizontal line across all lifelines with the name of a fault in it.
func (t Trace) rule(fault string) []rune {
	label := " " + fault + " "
	dashes := t.width() - gutter - uniseg.StringWidth(label)
	left := max(dashes/2, 2)
	right := max(dashes-left, 2)
	return []rune(strings.Repeat(" ", gutter) + strings.Repeat("┄", left) + label + strings.Repeat("┄", right))
}

// lifelines returns one row of every lifeline, in the state after a step.
func (t Trace) lifelines(step Step) []rune {
	row := slices.Repeat([]rune{' '}, t.width())
	for i, stance := range step.Standing {
		row[t.actorColumn(i)] = map[Stance]rune{
			Absent: ' ', Outside: '│', Inside: '┃', Paused: '┊', PausedInside: '┋', Ended: ' ', Dead: ' ',
		}[stance]
	}
	for i, node := range step.Nodes {
		row[t.serverColumn(i+1)] = node.symbol()
	}
	row[t.serverColumn(0)] = '│'
	return row
}

// symbol returns the character of a node on its lifeline. If the lock is held there, it is the last character of the holder's name: A, or 1
// for r1.
func (n Node) symbol() rune {
	switch {
	case n.Health == Crashed:
		return ' '
	case n.Health == Hung:
		return '┊'
	case n.Lock != "" && n.Lock != Nobody:
		symbol, _ := utf8.DecodeLastRuneInString(n.Lock)
		return symbol
	default:
		return '│'
	}
}

// drawEvent draws the event of a step into a row: an arrow to a server, or a symbol on a lifeline.
func (t Trace) drawEvent(row []rune, step Step) {
	actor := slices.Index(t.Actors, step.Actor)
	switch {
	case step.Kind == KindFailover:
		row[t.serverColumn(0)] = '✗'
	case step.Kind == KindCrashes:
		row[t.serverColumn(step.Node)] = '✗'
	case step.Kind == KindRestarts || step.Kind == KindEvicts || step.Kind == KindLags:
		row[t.serverColumn(step.Node)] = '○'
	case actor < 0:
		for node := range t.Nodes + 1 {
			if at := t.serverColumn(node); row[at] != ' ' { // the server has not crashed
				row[at] = '◷'
			}
		}
	case step.Command != "":
		t.drawArrow(row, step, t.actorColumn(actor))
		t.drawFault(row, step)
	case slices.Contains([]string{KindEnds, KindWaits, KindBegins, KindSubscribes, KindLeaves, KindTimesOut}, step.Kind):
		row[t.actorColumn(actor)] = '○'
	case step.Kind == KindClock:
		row[t.actorColumn(actor)] = '◷'
	case step.Kind == KindWoken:
		row[t.actorColumn(actor)] = '!'
	}
}

// drawArrow draws an arrow for a command, from a lifeline to its server, or to the place where the command was lost.
func (t Trace) drawArrow(row []rune, step Step, from int) {
	to := t.serverColumn(step.Node)
	line, head := '─', '▶'
	switch step.Kind {
	case KindLostRequest, KindNeverComes:
		head = '✗'
	case KindLate:
		head = '…'
	}
	if step.wasSentEarlier() {
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

// drawFault draws the fault of the node to which a command is sent: the node has crashed or restarts, or its clock jumps.
func (t Trace) drawFault(row []rune, step Step) {
	if step.Node == 0 {
		return
	}
	at := t.serverColumn(step.Node)
	switch {
	case step.Nodes[step.Node-1].Health == Crashed:
		row[at] = '✗'
	case step.Kind == KindNodeClock:
		row[at] = '◷'
	case step.Fault == "node-restart":
		row[at] = '○'
	}
}

// endDeadLifelines draws the ends of the lifelines of actors that died in a step.
func (t Trace) endDeadLifelines(row []rune, step, before Step) {
	for i, stance := range step.Standing {
		if stance == Dead && before.Standing[i] != Dead {
			row[t.actorColumn(i)] = '✗'
		}
	}
}
