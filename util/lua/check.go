package lua

import "strings"

// checkMark ends the first line of a script that WithCheck returns. The name of the script's file stands before it.
const checkMark = ", with another check of the token\n"

// WithCheck returns ReadFenced or Write with another check of the fencing token in place of its own. The check is the body of a Lua
// function of operation ("read" or "write"), token, and seen, which is the key of the largest token that the store has seen. It returns
// whether the store goes on.
func WithCheck(script, check string) string {
	arguments, refusal, rest := "'write', tonumber(ARGV[2]), KEYS[5]", "0", "ARGV[2] = '0' -- it is checked\n"+script
	if script == ReadFenced {
		arguments, refusal, rest = "'read', tonumber(ARGV[1]), KEYS[3]", "{0}", "return {1, redis.call('GET', KEYS[1])}"
	}
	return "-- " + File(script) + checkMark +
		"local function check(operation, token, seen)\n" + check + "\nend\n" +
		"if not check(" + arguments + ") then\n  return " + refusal + "\nend\n" + rest
}

// Base returns the script that WithCheck has made script of; any other script itself.
func Base(script string) string {
	for _, base := range []string{ReadFenced, Write} {
		if strings.HasPrefix(script, "-- "+File(base)+checkMark) {
			return base
		}
	}
	return script
}
