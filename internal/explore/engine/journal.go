package engine

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/language"
	"lockstep/internal/redis/meaning"
)

// Journal records what the code under test asked for during a run, in order. If code is not deterministic, two journals of one schedule
// differ, and the first difference names the line to look at.
type Journal struct{ entries []entry }

// entry is an action that the code under test asked for, and the lines of the code that asked, as callerLines returns them.
type entry struct{ action, callers string }

// record adds an action that the running task asks for. It does nothing on a nil Journal.
func (j *Journal) record(action string) {
	if j != nil {
		j.entries = append(j.entries, entry{action, callerLines()})
	}
}

// recordCommands adds the commands that the running task sends. It does nothing on a nil Journal.
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

// FirstDifference returns an ErrUnrepeatable that describes the first entry in which two journals differ; nil if they are the same.
func (j *Journal) FirstDifference(other *Journal) error {
	for i := range max(len(j.entries), len(other.entries)) {
		a, b := j.entryAt(i), other.entryAt(i)
		if a == b {
			continue
		}
		one, another := a.action+a.callers, b.action+b.callers
		if a.callers == b.callers {
			one = a.action
		}
		return language.Translate(fmt.Errorf("%w: once %s, once %s", ErrUnrepeatable, one, another), "一次是 %s，另一次是 %s", one, another)
	}
	return nil
}

// entryAt returns the entry with this index, or one with the action "nothing" if the journal is shorter.
func (j *Journal) entryAt(i int) entry {
	if i < len(j.entries) {
		return j.entries[i]
	}
	return entry{action: "nothing"}
}
