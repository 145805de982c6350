package lua_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/util/lua"
)

// SentScript recognizes a script by its text or its SHA-1, as go-redis sends it.
func TestSentByReturnsScript(t *testing.T) {
	sum := func(script string) string { return redis.NewScript(script).Hash() }
	for _, c := range []struct{ command, argument, want string }{
		{"EVAL", "return 1", "return 1"},
		{"eval", lua.Take, lua.Take},
		{"evalsha", sum(lua.CompareAndDelete), lua.CompareAndDelete},
		{"EVALSHA", sum(lua.Take), lua.Take},
		{"EVALSHA", sum("return 1"), ""},
		{"GET", lua.Take, ""},
	} {
		if got := lua.SentScript(c.command, c.argument); got != c.want {
			t.Errorf("%s %.40q sends %s; want %s", c.command, c.argument, lua.Name(got), lua.Name(c.want))
		}
	}
}

func TestNameOfScript(t *testing.T) {
	for script, want := range map[string]string{
		lua.Acquire: "acquire",
		lua.Write:   "write",
		"-- release gives the lock back\nreturn 1":    "release",
		"\n--release.lua: gives the lock back\n":      "release",
		"-- try-lock_2":                               "try-lock_2",
		"-- KEYS[1] the lock":                         lua.Unnamed,
		"--[[ release ]] return 1":                    lua.Unnamed,
		"--":                                          lua.Unnamed,
		"if redis.call('GET', KEYS[1]) then return 1": lua.Unnamed,
		"return 1 -- release":                         lua.Unnamed,
		"":                                            lua.Unnamed,
	} {
		if got := lua.Name(script); got != want {
			t.Errorf("%q is called %s; want %s", script, got, want)
		}
	}
}
