package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// A terminal has one line from the third second on, which is empty in the end. A pipe has a line then, and one every ten seconds.
func TestExploreSaysHowFarItIs(t *testing.T) {
	for live, want := range map[bool]string{
		true:  "\r\033[K2s\r\033[K3s\r\033[K11s\r\033[K12s\r\033[K40s\r\033[K",
		false: "2s\n12s\n40s\n",
	} {
		var to bytes.Buffer
		var now time.Time
		progress := newExploreProgress(&to, func() time.Time { return now })
		progress.live = live
		for _, at := range []time.Duration{0, 1, 2, 3, 11, 12, 40} {
			now = time.Time{}.Add(at * time.Second)
			progress.say((at * time.Second).String())
		}
		progress.end()
		if to.String() != want {
			t.Errorf("live %t: %q; want %q", live, &to, want)
		}
	}
}

// What is explored for longer says so on standard error, in either language; what is not, says nothing.
func TestALongExplorationSaysHowFarItIs(t *testing.T) {
	lock, err := findLock("v3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   language.Language
		pace time.Duration // of the clock, at each look
		want string
	}{
		{language.English, 11 * time.Second, "1 steps deep, "}, {language.Chinese, 11 * time.Second, "深 1 步，"}, {language.English, 0, ""},
	} {
		var stderr bytes.Buffer
		cmd := newExplore()
		cmd.SetContext(t.Context())
		cmd.SetErr(&stderr)
		var now time.Time
		f := exploreFlags{scenario: explore.Scenario{Actors: 2, Language: c.in}, now: func() time.Time {
			now = now.Add(c.pace)
			return now
		}}
		result, err := f.explore(cmd, lock, explore.Goal{}, explore.Bounds{})
		if err != nil || !result.Complete {
			t.Fatalf("%+v, %v", result, err)
		}
		lines := strings.Count(stderr.String(), "\n")
		if !strings.HasPrefix(stderr.String(), c.want) || (lines > result.Depth/2) != (c.pace > 0) {
			t.Errorf("%d steps, and it says %q; want %q", result.Depth, &stderr, c.want)
		}
	}
}

// An exploration that is interrupted says so, and no bound was hit.
func TestExploreSaysThatItWasInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for line, want := range map[string]string{
		"explore v6 --actors 4 --lang en":              "(--actors 4), but the exploration ended early: interrupted.\n",
		"explore v6 --actors 4 --lang zh":              "但探索提前结束：被中断。\n",
		"explore v6 --actors 4 --lang en --against v7": "against: the exploration of v6 ended early: interrupted\n",
		"explore --all --lang en":                      "\n  interrupted  it was interrupted before all schedules were explored\n",
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
