package engine

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/redis/meaning"
)

// Journal is what the code under test asked for in a run, in this order. Code that does not do the same twice has two journals for one
// schedule: where they part is the line to look at.
type Journal struct{ entries []entry }

type entry struct{ action, callers string }

// jot writes down what the task that has the turn asks for. A nil journal takes nothing down.
func (j *Journal) record(what string) {
	if j != nil {
		j.entries = append(j.entries, entry{what, callerLines()})
	}
}

// jotCommands writes down that it sends commands.
func (j *Journal) recordCommands(cmds []redis.Cmder) {
	if j == nil {
		return
	}
	var all []string
	for _, cmd := range cmds {
		_, text := meaning.Describe(cmd.Args())
		all = append(all, text)
	}
	j.record(strings.Join(all, ", "))
}

// Parts says where two journals part, "" if they do not.
func (j *Journal) FirstDifference(other *Journal) string {
	for i := range max(len(j.entries), len(other.entries)) {
		a, b := j.entryAt(i), other.entryAt(i)
		switch {
		case a == b:
			continue
		case a.callers == b.callers:
			return fmt.Sprintf("once %s, once %s%s", a.action, b.action, a.callers)
		default:
			return fmt.Sprintf("once %s%s, once %s%s", a.action, a.callers, b.action, b.callers)
		}
	}
	return ""
}

func (j *Journal) entryAt(i int) entry {
	if i < len(j.entries) {
		return j.entries[i]
	}
	return entry{action: "nothing"}
}
