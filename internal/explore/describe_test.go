package explore

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/util/lua"
)

// A command is named by its own name, a script by its file or the first word of its comment, unless that word has a meaning in schedules.
func TestDescribeNamesCommandsAndScripts(t *testing.T) {
	eval := func(script string) redis.Cmder { return redis.NewCmd(t.Context(), "eval", script, 1, "key", "A") }
	for name, test := range map[string]struct {
		command            redis.Cmder
		wantName, wantText string
	}{
		"a command":            {command: redis.NewCmd(t.Context(), "get", "key"), wantName: "GET", wantText: "GET key"},
		"a script of lockstep": {command: eval(lua.Lock), wantName: "lock", wantText: "EVAL lock.lua key A"},
		"a script with a name": {command: eval("-- grab takes it\nreturn 1"), wantName: "grab", wantText: "EVAL grab key A"},
		"unnamed script":       {command: eval("return 1"), wantName: "script", wantText: "EVAL script key A"},
		"script named as step": {command: eval("-- pauses"), wantName: "script", wantText: "EVAL pauses key A"},
		"script named as kind": {command: eval("-- waits"), wantName: "script", wantText: "EVAL waits key A"},
	} {
		t.Run(name, func(t *testing.T) {
			if name, text := Describe([]redis.Cmder{test.command}); name != test.wantName || text != test.wantText {
				t.Errorf("got %s, %s; want %s, %s", name, text, test.wantName, test.wantText)
			}
		})
	}
}
