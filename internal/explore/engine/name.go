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
const unnamed = "task"

// asPartOfToken returns the name of a task, if a schedule can write it.
func asPartOfToken(name string) string {
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	if name == "" || strings.ContainsFunc(name, odd) {
		return unnamed
	}
	return name
}

// call gives a task a name that no other has whose commands may still take effect.
func (x *scheduler) call(t *Task, what string) {
	taken := func(name string) bool {
		return slices.ContainsFunc(x.tasks, func(other *Task) bool {
			return other != t && other.name == name && (!other.Ended() || x.oldest(other) >= 0)
		})
	}
	t.name = t.actor.Name + "." + what
	for n := 2; taken(t.name); n++ {
		t.name = fmt.Sprintf("%s.%s-%d", t.actor.Name, what, n)
	}
}

// callByNode names a task that an actor has started by the first node that it asks.
func (x *scheduler) callByNode(t *Task, server int) {
	if server == 0 || t == t.actor.main || t.asks {
		return
	}
	t.asks = true
	x.call(t, fmt.Sprintf("node%d", server))
}
