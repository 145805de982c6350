package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A task that an actor starts has the name that was passed to Clock.Go, as in A.renewal. A task that queries a node is named after that
// node, as in A.node2. If a live task has the name already, the next task is A.renewal-2.

// defaultRole is the role of a task whose name cannot be written in a schedule.
const defaultRole = "task"

// timerRole is the role of a task that runs the function of a timer.
const timerRole = "timer"

// tokenName returns name if it can be part of a schedule, and defaultRole otherwise.
func tokenName(name string) string {
	isOdd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	if name == "" || strings.ContainsFunc(name, isOdd) {
		return defaultRole
	}
	return name
}

// setRole gives a task a role, and the first ordinal that no other task of its actor and role has. It ignores tasks that have ended, unless
// a command of theirs is late.
func (t *Task) setRole(role string) {
	isTaken := func(other *Task) bool {
		return other != t && other.actor == t.actor && other.role == role && other.ordinal == t.ordinal &&
			(!other.Ended() || other.firstLate() >= 0)
	}
	t.role = role
	for t.ordinal = 1; slices.ContainsFunc(t.x.tasks, isTaken); {
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

// nodeNames joins the names of the servers of a lock. A name is a slice of this string, because formatting it each time would be slow.
const nodeNames = "node0node1node2node3node4node5node6node7node8node9"

// nameByNode names a task that an actor has started after the first node to which it sends a command.
func (t *Task) nameByNode(server int) {
	if server == 0 || t == t.actor.mainTask || t.namedByNode {
		return
	}
	t.namedByNode = true
	t.setRole(nodeNames[server*len("node0"):][:len("node0")])
}
