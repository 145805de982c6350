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

// Describe returns the name by which schedules refer to a command, which is that of the first of several, and the text of all commands with
// their arguments. Times are relative to the start of the run, and orders for the ledger are left out because they are long.
func Describe(cmds []redis.Cmder) (name, text string) {
	var parts []string
	for i, cmd := range cmds {
		short, full := meaning.Describe(cmd.Args())
		if i == 0 {
			name = scheduleName(short)
		}
		parts = append(parts, full)
	}
	return name, simredis.RelativeTimes(strings.Join(parts, ", "))
}

// scheduleName returns the name of a command in a schedule: its own, unless schedules use that word for something else.
func scheduleName(name string) string {
	taken := []string{trace.KindBegins, trace.KindSubscribes, trace.KindWaits, trace.KindEnds, trace.KindDies}
	if engine.IsReservedWord(name) || slices.Contains(taken, name) {
		return lua.Unnamed
	}
	return name
}
