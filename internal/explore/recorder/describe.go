package recorder

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"

	"lockstep/util/lua"
)

// Describe gives the first command's short name, and all of the commands.
func Describe(cmds []redis.Cmder) (name, all string) {
	var parts []string
	for i, cmd := range cmds {
		var words []string
		for _, arg := range cmd.Args() {
			words = append(words, fmt.Sprint(arg))
		}
		short, text := lua.Describe(words)
		if i == 0 {
			name, _, _ = strings.Cut(short, " ")
		}
		parts = append(parts, text)
	}
	return name, strings.Join(parts, ", ")
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
	return text
}
