package lua_test

import (
	"strings"
	"testing"

	"lockstep/util/lua"
)

// WithCheck changes neither the base nor the name of a script. A script of a learner is its own base.
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
				t.Errorf("base %q; want the script itself", base)
			}
		})
	}
}
