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

// Describe returns the name of a command in schedules, and the text of a list of commands with their arguments. The name is that of the
// first command. In the text, times are relative to the start of the run, and the JSON of orders is left out because it is long.
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

// scheduleName returns the name of a command in a schedule: its own name, unless schedules use that word for something else.
func scheduleName(name string) string {
	taken := []string{trace.KindBegins, trace.KindSubscribes, trace.KindWaits, trace.KindEnds, trace.KindDies}
	if engine.IsReservedWord(name) || slices.Contains(taken, name) {
		return lua.Unnamed
	}
	return name
}
