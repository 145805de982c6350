package explore

import (
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/redis/meaning"
	"lockstep/internal/trace"
	"lockstep/util/lua"
)

// Describe gives a command's short name, as schedules write it, and all of it, with times as what has passed since the beginning. What it
// writes into the ledger is not worth the space.
func Describe(cmds []redis.Cmder) (name, all string) {
	var parts []string
	for i, cmd := range cmds {
		short, text := meaning.Describe(cmd.Args())
		if i == 0 {
			name = nameOf(short)
		}
		parts = append(parts, text)
	}
	return name, simredis.RelativeTimes(strings.Join(parts, ", "))
}

// nameOf returns the name of a command in a schedule: its own, unless schedules use that word for something else.
func nameOf(name string) string {
	taken := []string{trace.KindBegins, trace.KindSubscribes, trace.KindWaits, trace.KindEnds, trace.KindDies}
	if engine.IsReservedWord(name) || slices.Contains(taken, name) {
		return lua.Unnamed
	}
	return name
}
