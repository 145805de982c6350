package engine

import "testing"

func TestAsPartOfToken(t *testing.T) {
	for name, want := range map[string]string{
		"renewal": "renewal", "giveBack": "giveBack", "node_2": "node_2", "续期": "续期",
		"": unnamed, "a renewal": unnamed, "A:SET": unnamed, "renewal-2": unnamed, "func1.2": unnamed,
	} {
		if got := asPartOfToken(name); got != want {
			t.Errorf("a task named %q is called %s; want %s", name, got, want)
		}
	}
}
