package lua

import "strings"

// checkMark ends the first line of a script that WithCheck returns. The name of the script's file stands before it.
const checkMark = ", with another check of the token\n"

// WithCheck returns the script ReadFenced or Write with another check of the fencing token in place of its own. The check is the body of a
// Lua function that returns whether the store accepts the token. The function's parameters are operation ("read" or "write"), token, and
// seen, the key of the largest token that the store has seen.
func WithCheck(script, check string) string {
	arguments, refusal, rest := "'write', tonumber(ARGV[2]), KEYS[5]", "0", "ARGV[2] = '0' -- it is checked\n"+script
	if script == ReadFenced {
		arguments, refusal, rest = "'read', tonumber(ARGV[1]), KEYS[3]", "{0}", "return {1, redis.call('GET', KEYS[1])}"
	}
	return "-- " + File(script) + checkMark +
		"local function check(operation, token, seen)\n" + check + "\nend\n" +
		"if not check(" + arguments + ") then\n  return " + refusal + "\nend\n" + rest
}

// Base returns the script that was passed to WithCheck to get script. It returns any other script unchanged.
func Base(script string) string {
	for _, base := range []string{ReadFenced, Write} {
		if strings.HasPrefix(script, "-- "+File(base)+checkMark) {
			return base
		}
	}
	return script
}
