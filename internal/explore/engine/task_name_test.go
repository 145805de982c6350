package engine

import "testing"

func TestTokenNameReplacesUnwritableNames(t *testing.T) {
	for name, want := range map[string]string{
		"renewal": "renewal", "giveBack": "giveBack", "node_2": "node_2", "续期": "续期",
		"": defaultRole, "a renewal": defaultRole, "A:SET": defaultRole, "renewal-2": defaultRole, "func1.2": defaultRole,
	} {
		if got := tokenName(name); got != want {
			t.Errorf("tokenName(%q) = %s; want %s", name, got, want)
		}
	}
}
