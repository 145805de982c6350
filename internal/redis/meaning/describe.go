package meaning

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/util/lua"
)

// Describe formats a command for people: name is its short name, or that of the script it sends, and all begins with the command and lists
// the arguments. What a script writes to the ledger is replaced by its effect on the stock. args[0] is the command.
func Describe(args []any) (name, all string) {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = Text(arg)
	}
	name = strings.ToUpper(words[0])
	words[0] = name
	if len(words) < 3 {
		return name, strings.Join(words, " ")
	}
	if script := lua.Base(lua.SentScript(name, words[1])); script != "" {
		name = lua.Name(script)
		shown := append([]string{cmp.Or(lua.File(script), name)}, words[3:]...)
		if effect := describeStockEffect(script, Of(args, nil, nil)); effect != "" {
			shown = []string{shown[0] + ":", effect}
		}
		words = append(words[:1], shown...)
	}
	return name, strings.Join(words, " ")
}

// describeStockEffect describes what a script does with the stock as a plain command; "" if it does not use the stock.
func describeStockEffect(script string, m Meaning) (command string) {
	key := StockKey
	if m.Segment > 0 {
		key = SegmentPrefix + Text(m.Segment)
	}
	switch {
	case m.Verb == Reads:
		command = "GET " + key
	case m.Verb == Writes && script == lua.Write:
		command = "SET " + key + " " + Text(m.Stock)
	case m.Verb == Writes:
		command = "DECR " + key
	default:
		return ""
	}
	if m.Token != 0 {
		command += " (token " + Text(m.Token) + ")"
	}
	return command
}

// ShortReply shortens a reply for people: of an order from the ledger it keeps only the stock after the order.
func ShortReply(reply string) string {
	if strings.Contains(reply, `"stock_after"`) {
		return fmt.Sprintf(`{…"stock_after":%d}`, parseOrder(reply).After)
	}
	return reply
}
