package lua_test

import (
	"testing"

	"lockstep/util/lua"
)

func TestName(t *testing.T) {
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
