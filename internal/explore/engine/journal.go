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

type entry struct{ what, line string }

// jot writes down what the task that has the turn asks for. A nil journal takes nothing down.
func (j *Journal) jot(what string) {
	if j != nil {
		j.entries = append(j.entries, entry{what, line()})
	}
}

// jotCommands writes down that it sends commands.
func (j *Journal) jotCommands(cmds []redis.Cmder) {
	if j == nil {
		return
	}
	var all []string
	for _, cmd := range cmds {
		_, text := meaning.Describe(cmd.Args())
		all = append(all, text)
	}
	j.jot(strings.Join(all, ", "))
}

// Parts says where two journals part, "" if they do not.
func (j *Journal) Parts(other *Journal) string {
	for i := range max(len(j.entries), len(other.entries)) {
		a, b := j.at(i), other.at(i)
		switch {
		case a == b:
			continue
		case a.line == b.line:
			return fmt.Sprintf("once %s, once %s%s", a.what, b.what, a.line)
		default:
			return fmt.Sprintf("once %s%s, once %s%s", a.what, a.line, b.what, b.line)
		}
	}
	return ""
}

func (j *Journal) at(i int) entry {
	if i < len(j.entries) {
		return j.entries[i]
	}
	return entry{what: "nothing"}
}
