package engine

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// A task that an actor starts is called by the function that started it: A.renewal. One that asks a node is called by that: A.node2. If
// there is one of that name, which has still something to do, the next is A.renewal-2.

// unnamed is a task that no function with a name has started.
const unnamed = "task"

// purpose names a function that a task is to run: by its own name or, if it has none, by the name of the one that it is in.
func purpose(f func()) string {
	return purposeOf(runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name())
}

// purpose is that, which is the same each time.
func (x *scheduler) purpose(f func()) string {
	at := reflect.ValueOf(f).Pointer()
	if _, known := x.Purposes[at]; !known {
		x.Purposes[at] = purpose(f)
	}
	return x.Purposes[at]
}

// purposeOf finds it in what Go calls the function: path/package.(*Type).StartRenewal.func1, or path/package.Type.renew-fm.
func purposeOf(function string) string {
	_, function, _ = strings.Cut(function[strings.LastIndex(function, "/")+1:], ".") // the package
	parts := strings.Split(strings.TrimSuffix(function, "-fm"), ".")
	anonymous := func(part string) bool { return strings.TrimLeft(strings.TrimPrefix(part, "func"), "0123456789") == "" }
	parts = slices.DeleteFunc(parts, anonymous)
	if len(parts) == 0 {
		return unnamed
	}
	name := []rune(parts[len(parts)-1])
	for _, start := range []string{"Start", "start"} {
		if what, starts := strings.CutPrefix(string(name), start); starts && what != "" && unicode.IsUpper([]rune(what)[0]) {
			name = []rune(what)
		}
	}
	name[0] = unicode.ToLower(name[0])
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	if slices.ContainsFunc(name, odd) {
		return unnamed
	}
	return string(name)
}

// call gives a task a name that no other has whose commands may still take effect.
func (x *scheduler) call(t *Task, what string) {
	taken := func(other *Task) bool {
		return other != t && other.actor == t.actor && other.what == what && other.copies == t.copies &&
			(!other.Ended() || x.oldest(other) >= 0)
	}
	t.what = what
	for t.copies = 1; slices.ContainsFunc(x.tasks, taken); {
		t.copies++
	}
}

// name returns what a task is called.
func (t *Task) name() string {
	switch {
	case t.what == "":
		return t.actor.Name
	case t.copies == 1:
		return t.actor.Name + "." + t.what
	default:
		return fmt.Sprintf("%s.%s-%d", t.actor.Name, t.what, t.copies)
	}
}

// nodes are the names of the servers that a lock is on, one after the other: they are asked for too often to be made each time.
const nodes = "node0node1node2node3node4node5node6node7node8node9"

// callByNode names a task that an actor has started by the first node that it asks.
func (x *scheduler) callByNode(t *Task, server int) {
	if server == 0 || t == t.actor.main || t.asks {
		return
	}
	t.asks = true
	x.call(t, nodes[server*len("node0"):][:len("node0")])
}
