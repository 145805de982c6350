package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/lab"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// quickLabs are the labs of the quick suite. The long suite runs all labs on a real Redis; the matrix runs all on the embedded one.
var quickLabs = []string{"lost-update", "check-then-delete", "self-deadlock", "lost-reply"}

// Each lab shows its flaw, if a step has it, and then the cure, if there is one.
func TestLabShowsFlawAndCure(t *testing.T) {
	t.Parallel()
	for _, l := range lab.OnService() {
		for _, kind := range []string{"embedded", "real"} {
			if kind == "real" && !suite.Long || kind == "embedded" && !slices.Contains(quickLabs, l.Name) {
				continue
			}
			t.Run(l.Name+"/"+kind, func(t *testing.T) {
				if kind == "real" {
					suite.Needs(t, "redis-server")
				}
				t.Parallel()
				var code int
				var stdout, stderr string
				for range 3 { // on a busy machine, a lab may report that sales never overlapped
					if code, stdout, stderr = command(t, "lab", l.Name, "--json", "--redis", kind); code != exitTrouble {
						break
					}
					t.Log(stderr)
				}
				if code != 0 {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
				var results []lab.Result
				if err := json.Unmarshal([]byte(stdout), &results); err != nil || len(results) != len(l.Locks()) {
					t.Fatalf("%d results, %v", len(results), err)
				}
				for _, r := range results {
					want, isFlawed := verdict.Holds, r.Lock == l.Shows
					if isFlawed {
						want = verdict.Broken
					}
					if r.Observed != want || (r.Sentence != "") != isFlawed || r.Redis != kind {
						t.Errorf("%s is %s on %s (%s); want %s", r.Lock, r.Observed, r.Redis, r.Sentence, want)
					}
				}
				if !strings.Contains(stderr, "#1") {
					t.Errorf("nobody is drawn:\n%s", stderr)
				}
			})
		}
	}
}

// slowExplorations are the labs whose command explores for seconds. The claims in internal/explore have smaller versions of them: v10 with
// a crash, and starvation.
var slowExplorations = []string{"dead-waiter", "starvation", "starvation-replicas"}

// The explorer shows what a lab shows, by the command that the lab names.
func TestExplorerShowsFlawsOfLabs(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: TestExploreExitCodes has the explorer at work")
	}
	for _, l := range lab.OnService() {
		wants := map[string]int{l.Shows: 1}
		if l.Shows == "" {
			wants[l.Cured] = 0
		}
		for lock := range l.ExploreByLock {
			switch broken := l.Expects(lock).Verdict == verdict.Broken; {
			case broken:
				wants[lock] = 1
			case suite.Long: // the cure is explored like any other lock
				wants[lock] = 0
			}
		}
		for lock, want := range wants {
			command := l.InExplorer(lock)
			if command == "" || !suite.Long && slices.Contains(slowExplorations, l.Name) {
				continue
			}
			var stdout, stderr bytes.Buffer
			if code := Run(t.Context(), strings.Fields(command), &stdout, &stderr); code != want {
				t.Errorf("%s: %s: exit code %d; want %d: %s", l.Name, command, code, want, &stderr)
			}
		}
	}
}

// With --lock, only the labs for that lock are listed.
func TestLabWithoutNameListsLabs(t *testing.T) {
	code, all, stderr := command(t, "lab")
	ofV1Code, ofV1, _ := command(t, "lab", "--lock", "v1")
	if code != exitOK || ofV1Code != exitOK || !strings.Contains(ofV1, "holder-dies") || strings.Contains(ofV1, "check-then-delete") {
		t.Errorf("exit codes %d and %d: %s; of v1 there are:\n%s", code, ofV1Code, stderr, ofV1)
	}
	for _, l := range lab.OnService() {
		if !strings.Contains(all, l.Name) {
			t.Errorf("%s is not listed", l.Name)
		}
	}
}

func TestLabRejectsWrongArguments(t *testing.T) {
	assertRefusedLater(t, map[string]string{
		"lab foreign-delet":                "did you mean foreign-delete",
		"lab foreign-delete --lock v0":     "there is no lock in Redis",
		"lab foreign-delete --lock v12":    "there is no such lock",
		"lab --lock v12":                   "there is no such lock",
		"lab foreign-delete --lang xx":     "it takes en or zh",
		"lab foreign-delete --redis big":   "want embedded or real",
		"lab foreign-delete --lock.ttl 1s": "lab takes no settings",
	})
}
