package recorder

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/execution"
	"lockstep/internal/trace"
	"lockstep/util/lua"
)

// Describe gives a command's short name, as schedules write it, and all of it. What it writes into the ledger is not worth the space.
func Describe(cmds []redis.Cmder) (name, all string) {
	var parts []string
	for i, cmd := range cmds {
		var words []string
		for _, arg := range cmd.Args() {
			words = append(words, fmt.Sprint(arg))
		}
		words[0] = strings.ToUpper(words[0])
		short := words[0]
		if short == "EVAL" && len(words) > 2 {
			short = nameOf(words[1])
			words = append([]string{"EVAL"}, aboutStock(cmp.Or(lua.File(words[1]), short), words[1], words[3:])...)
		}
		if i == 0 {
			name = short
		}
		parts = append(parts, strings.Join(words, " "))
	}
	return name, strings.Join(parts, ", ")
}

// nameOf is what a schedule calls a script: by its name, unless schedules use that word for something else.
func nameOf(script string) string {
	name := lua.Name(script)
	if execution.Reserved(name) || slices.Contains([]string{trace.KindBegins, trace.KindWaits, trace.KindEnds, trace.KindDies}, name) {
		return lua.Unnamed
	}
	return name
}

// aboutStock says what the store's scripts do with the stock. Of others it gives the name, the keys and the arguments.
func aboutStock(name, script string, words []string) []string {
	var says, token string
	switch script {
	case lua.Write:
		says, token = "SET "+words[0]+" "+words[5], words[6]
	case lua.ReadFenced:
		says, token = "GET "+words[0], words[3]
	case lua.Take:
		says, token = "DECR "+words[0], "0"
	default:
		return append([]string{name}, words...)
	}
	if token != "0" {
		says += " (token " + token + ")"
	}
	return []string{name + ":", says}
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
