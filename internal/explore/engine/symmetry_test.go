package engine

import "testing"

// The names of actors are replaced in owners, and nothing else is.
func TestRenameReplacesOnlyOwners(t *testing.T) {
	o := Order{Places: []byte{'1', '0'}, renamesActors: true}
	x := &Execution{Setup: Setup{FirstActorName: 'A'}, actors: make([]*Actor, 2)}
	x.Scenario.Actors = 2
	for text, want := range map[string]string{
		"distributedLock:A":                      "distributedLock:1",
		`"distributedLock:B:7f" distributedLock`: `"distributedLock:0:7f" distributedLock`,
		"distributedLock:B distributedLock:A\n":  "distributedLock:0 distributedLock:1\n",
		"distributedLock:C distributedLock:":     "distributedLock:C distributedLock:",
		"distributedLock:All A B :A":             "distributedLock:All A B :A",
	} {
		if got := string(o.rename(x, []byte(text))); got != want {
			t.Errorf("rename(%q) = %q; want %q", text, got, want)
		}
	}
}
