package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// An interrupted exploration says so, and names no bound.
func TestExploreReportsInterruption(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for line, want := range map[string]string{
		"explore v6 --actors 4 --lang en":              "(--actors 4), but the exploration ended early: interrupted.\n",
		"explore v6 --actors 4 --lang zh":              "但探索提前结束：被中断。\n",
		"explore v6 --actors 4 --lang en --against v7": "against: the exploration of v6 ended early: interrupted\n",
		"explore --all --lang en":                      "\n  interrupted  the search was interrupted before all schedules were explored\n",
		"explore --all --lang zh":                      "\n  interrupted  还没探索完就被中断\n",
	} {
		var stdout, stderr bytes.Buffer
		code := Run(ctx, strings.Fields(line), &stdout, &stderr)
		if said := stdout.String() + stderr.String(); code != exitTrouble || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d; want %d, and %q:\n%s", line, code, exitTrouble, want, said)
		}
		if cells := strings.Count(stdout.String(), "interrupted"); strings.Contains(line, "--all") && cells < 10 {
			t.Errorf("%s: %d cells are interrupted:\n%s", line, cells, &stdout)
		}
	}
	for _, line := range []string{"explore v6 --actors 4 --json --lang zh", "explore --all --json"} {
		var stdout, stderr bytes.Buffer
		code := Run(ctx, strings.Fields(line), &stdout, &stderr)
		var doc struct{ Interrupted bool }
		if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil || code != exitTrouble || !doc.Interrupted {
			t.Errorf("%s: exit code %d, %v, interrupted %t", line, code, err, doc.Interrupted)
		}
	}
	code, stdout, _ := command(t, "explore", "v6", "--actors", "4", "--max-schedules", "10", "--json")
	if code != exitTrouble || !strings.Contains(stdout, `"interrupted": false`) || !strings.Contains(stdout, `"bound": "10 schedules"`) {
		t.Errorf("a bound: exit code %d, %s", code, stdout)
	}
}
