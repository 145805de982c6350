package engine_test

import (
	"testing"

	"lockstep/internal/explore/engine"
)

// Polls that were asked for are written, and kept; otherwise they are the explorer's to choose.
func TestPollsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]struct {
		polls  int
		writes string
	}{
		"":             {0, ""},
		"--polls auto": {0, ""},
		"--polls 0":    {engine.NoPolls, "--polls 0"},
		"--polls 3":    {3, "--polls 3"},
	} {
		s, err := engine.ParseScenario(text)
		if err != nil || s.Polls != want.polls || s.String() != want.writes {
			t.Errorf("%q: %d polls, %v, written as %q; want %d, %q", text, s.Polls, err, s, want.polls, want.writes)
		}
	}
	for _, text := range []string{"--polls -1", "--polls 101", "--polls often"} {
		if _, err := engine.ParseScenario(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
