package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDiffShowsStep(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"diff v3 v4 --lang en":                 {exitOK, "\n+-- Deletes a lock if its value is the owner's.\n"},
		"diff v3 --lang en":                    {exitOK, "v3 → v4: compare-and-delete in Lua\n"},
		"diff v3 v4 --lang zh":                 {exitOK, "  lockstep lab check-then-delete --lang zh\n"},
		"diff v3 v4 --stat --lang en":          {exitOK, "28 changed lines (+14 −14), comments and blank lines left out.\n"},
		"diff --lang en":                       {exitOK, "\nv1 v2 "},
		"diff setnx-expire --lang en":          {exitOK, "setnx-expire → lua-setnx: "},
		"diff v3 v5":                           {exitTrouble, `there is no such step: "v3-v5"; there are v0-v1, `},
		"diff v11":                             {exitTrouble, `there is no such step: "v11"; there are `},
		"diff v3 V4":                           {exitTrouble, "did you mean v4?"},
		"diff v3 v4 --stat --json":             {exitTrouble, "--stat and --json cannot be combined"},
		"diff --html step.html":                {exitTrouble, "--html writes one step"},
		"diff v3 v4 --html no-such-dir/a.html": {exitTrouble, "--html: open "},
	} {
		code, stdout, stderr := command(t, strings.Fields(line)...)
		if code != want.code || !strings.Contains(stdout+stderr, want.says) || strings.Contains(stdout, "\033") {
			t.Errorf("%s: exit code %d; want %d, and %q:\n%s%s", line, code, want.code, want.says, stdout, stderr)
		}
	}
}

// The HTML document is one file without external resources, and the JSON document is one value, as the page gets it.
func TestDiffWritesJSONAndHTML(t *testing.T) {
	name := filepath.Join(t.TempDir(), "step.html")
	code, stdout, stderr := command(t, "diff", "v3", "v4", "--json", "--html", name)
	var step struct {
		From, To string
		Files    []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(stdout), &step); err != nil || code != exitOK || step.To != "v4" || len(step.Files) != 4 {
		t.Errorf("exit code %d, %v, %+v\n%s", code, err, step, stderr)
	}
	if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), "compareAndDelete.lua</code>") {
		t.Errorf("%v: %s", err, text)
	}
}
