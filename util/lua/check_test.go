package lua_test

import (
	"strings"
	"testing"

	"lockstep/util/lua"
)

// A script with another check is told from a learner's script, and keeps its name.
func TestWithCheckKeepsBaseAndName(t *testing.T) {
	for name, script := range map[string]string{"readFenced": lua.ReadFenced, "write": lua.Write} {
		t.Run(name, func(t *testing.T) {
			checked := lua.WithCheck(script, "return token > 7")
			if !strings.Contains(checked, "return token > 7") || lua.Base(checked) != script || lua.Name(checked) != name {
				t.Errorf("base %q, name %q of\n%s", lua.Name(lua.Base(checked)), lua.Name(checked), checked)
			}
		})
	}
	for name, script := range map[string]string{"itself": lua.Write, "of a learner": "-- write: my own\nreturn 1", "none": ""} {
		t.Run(name, func(t *testing.T) {
			if base := lua.Base(script); base != script {
				t.Errorf("the base is %q", base)
			}
		})
	}
}
