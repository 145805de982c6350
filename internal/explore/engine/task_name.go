package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A task that an actor starts has the name that Clock.Go gave it: A.renewal. One that asks a node is called by that: A.node2. If
// there is one of that name, which has still something to do, the next is A.renewal-2.

// unnamed is a task whose name no schedule can write.
const defaultRole = "task"

// asPartOfToken returns the name of a task, if a schedule can write it.
func tokenName(name string) string {
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	if name == "" || strings.ContainsFunc(name, odd) {
		return defaultRole
	}
	return name
}

// call gives a task a name that no other has whose commands may still take effect.
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

// name returns what a task is called.
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

// nodes are the names of the servers that a lock is on, one after the other: they are asked for too often to be made each time.
const nodeNames = "node0node1node2node3node4node5node6node7node8node9"

// callByNode names a task that an actor has started by the first node that it asks.
func (t *Task) nameByNode(server int) {
	if server == 0 || t == t.actor.mainTask || t.namedByNode {
		return
	}
	t.namedByNode = true
	t.setRole(nodeNames[server*len("node0"):][:len("node0")])
}
