package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A task that an actor starts is named after the name that Clock.Go was given, as in A.renewal. One that queries a node is named after
// that node, as in A.node2. If a live task has the name already, the next one is A.renewal-2.

// defaultRole is the role of a task whose name cannot be written in a schedule.
const defaultRole = "task"

// timerRole is the role of a task that runs the function of a timer.
const timerRole = "timer"

// tokenName returns the name of a task if it can be written in a schedule, and defaultRole otherwise.
func tokenName(name string) string {
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	if name == "" || strings.ContainsFunc(name, odd) {
		return defaultRole
	}
	return name
}

// setRole names a task differently from all tasks of its actor that still run or whose commands may still take effect.
func (t *Task) setRole(what string) {
	taken := func(other *Task) bool {
		return other != t && other.actor == t.actor && other.role == what && other.ordinal == t.ordinal &&
			(!other.Ended() || other.firstLate() >= 0)
	}
	t.role = what
	for t.ordinal = 1; slices.ContainsFunc(t.x.tasks, taken); {
		t.ordinal++
	}
}

// name returns the task's name in schedules.
func (t *Task) name() string {
	switch {
	case t.role == "":
		return t.actor.Name
	case t.ordinal == 1:
		return t.actor.Name + "." + t.role
	default:
		return fmt.Sprintf("%s.%s-%d", t.actor.Name, t.role, t.ordinal)
	}
}

// nodeNames are the names of the servers of a lock, one after the other. They are cut out of one string because they are needed too often
// to format them each time.
const nodeNames = "node0node1node2node3node4node5node6node7node8node9"

// nameByNode gives a task that an actor has started the name of the first node that it sends a command to.
func (t *Task) nameByNode(server int) {
	if server == 0 || t == t.actor.mainTask || t.namedByNode {
		return
	}
	t.namedByNode = true
	t.setRole(nodeNames[server*len("node0"):][:len("node0")])
}
