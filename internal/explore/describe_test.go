package explore

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/util/lua"
)

func TestDescribe(t *testing.T) {
	eval := func(script string) redis.Cmder { return redis.NewCmd(t.Context(), "eval", script, 1, "key", "A") }
	for about, test := range map[string]struct {
		command   redis.Cmder
		name, all string
	}{
		"a command":            {redis.NewCmd(t.Context(), "get", "key"), "GET", "GET key"},
		"a script of lockstep": {eval(lua.Lock), "lock", "EVAL lock.lua key A"},
		"a script with a name": {eval("-- grab takes it\nreturn 1"), "grab", "EVAL grab key A"},
		"one without":          {eval("return 1"), "script", "EVAL script key A"},
		"one called as a step": {eval("-- pauses"), "script", "EVAL pauses key A"},
		"one called as none":   {eval("-- waits"), "script", "EVAL waits key A"},
	} {
		if name, all := Describe([]redis.Cmder{test.command}); name != test.name || all != test.all {
			t.Errorf("%s: %s, %s; want %s, %s", about, name, all, test.name, test.all)
		}
	}
}

// Of an order the drawing has what it left: all of it is as long as three lines.
func TestReadableOrder(t *testing.T) {
	const order = `{"at":"0s","id":"A","stock_after":99,"stock_before":100}`
	if got := readable(fmt.Appendf(nil, "$%d\r\n%s\r\n", len(order), order), 1); got != `{…"stock_after":99}` {
		t.Errorf("it is %s", got)
	}
}
