package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// In a terminal, one line appears after two seconds and is cleared at the end. In a pipe, lines appear then and every ten seconds.
func TestProgressLines(t *testing.T) {
	for live, want := range map[bool]string{
		true:  "\r\033[K2s\r\033[K3s\r\033[K11s\r\033[K12s\r\033[K40s\r\033[K",
		false: "2s\n12s\n40s\n",
	} {
		var to bytes.Buffer
		var now time.Time
		progress := newProgress(&to, live, func() time.Time { return now })
		for _, at := range []time.Duration{0, 1, 2, 3, 11, 12, 40} {
			now = time.Time{}.Add(at * time.Second)
			progress.update((at * time.Second).String())
		}
		progress.end()
		if to.String() != want {
			t.Errorf("live %t: %q; want %q", live, &to, want)
		}
	}
}

// A long exploration prints its progress on standard error, in either language; a short one prints nothing.
func TestLongExplorationPrintsProgress(t *testing.T) {
	lock, err := evolution.Find("v3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   language.Language
		pace time.Duration // time between two readings of the clock
		want string
	}{
		{language.English, 11 * time.Second, "1 steps deep, "}, {language.Chinese, 11 * time.Second, "深度 1，"}, {language.English, 0, ""},
	} {
		var stderr bytes.Buffer
		var now time.Time
		r := Request{Lock: lock, Scenario: explore.Scenario{Actors: 2, Language: c.in}, Err: &stderr, Now: func() time.Time {
			now = now.Add(c.pace)
			return now
		}}
		result, err := r.explore(t.Context())
		if err != nil || !result.Complete {
			t.Fatalf("%+v, %v", result, err)
		}
		lines := strings.Count(stderr.String(), "\n")
		if !strings.HasPrefix(stderr.String(), c.want) || (lines > result.Depth/2) != (c.pace > 0) {
			t.Errorf("%d steps, and it says %q; want %q", result.Depth, &stderr, c.want)
		}
	}
}
