package explore

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/trace"
	"lockstep/util/lua"
	"lockstep/util/lua/meaning"
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
	return name, simredis.Relative(strings.Join(parts, ", "))
}

// nameOf returns the name of a command in a schedule: its own, unless schedules use that word for something else.
func nameOf(name string) string {
	taken := []string{trace.KindBegins, trace.KindSubscribes, trace.KindWaits, trace.KindEnds, trace.KindDies}
	if engine.Reserved(name) || slices.Contains(taken, name) {
		return lua.Unnamed
	}
	return name
}

// readable writes a reply as redis-cli does, more or less. Of several, the first error, or else that all went well.
func readable(raw []byte, commands int) string {
	text := "?"
	for r := bufio.NewReader(bytes.NewReader(raw)); ; {
		message, err := proto.Read(r)
		if err != nil {
			break
		}
		if strings.HasPrefix(message, "-") {
			return "error " + strings.TrimSpace(message[1:])
		}
		switch value, err := proto.Parse(message); {
		case err != nil || strings.HasPrefix(message, "$-1") || strings.HasPrefix(message, "*-1"):
			text = "nil"
		default:
			text = fmt.Sprint(value)
		}
	}
	if commands > 1 && text != "nil" {
		return "OK"
	}
	return simredis.Relative(meaning.Answer(text))
}
