package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/soak"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
)

func TestSoakRejectsWrongFlags(t *testing.T) {
	suite.Needs(t, "false")
	assertRefusedLater(t, map[string]string{
		"soak --lock v1":                "soak does not support this lock",
		"soak --lock v99":               "did you mean v9?",
		"soak --minutes 0":              "want more than 0",
		"soak --replicas 1":             "so that the others can sell while one is down",
		"soak --buyers 0":               "want from 1 to 10000 buyers",
		"soak --faults flood":           "unknown fault",
		"soak --html no-such-dir/x":     "--html: open no-such-dir",
		"soak --lock.ttl 1s":            "soak takes no settings",
		"soak --redis no-such-server":   "no-such-server: not installed",
		"soak --redis false":            "false --version: exit status 1",
		"soak --minutes 1 --seed seven": "invalid argument",
	})
}

// The verdict is printed first. A page that cannot be written leads to exitTrouble if it was requested; otherwise the verdict determines
// the exit code.
func TestSoakPrintsVerdictBeforePageError(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no disk is full here: ", err)
	}
	pageErr := errors.New("--html: open history.html: permission denied")
	for what, c := range map[string]struct {
		args    []string
		verdict verdict.Verdict
		before  error // error of opening the file; nil: it is open
		want    string
	}{
		"by itself, and all is well": {nil, verdict.Pass, pageErr, "exit code 0"},
		"by itself, and it fails":    {nil, verdict.Fail, pageErr, "exit code 1"},
		"asked for":                  {[]string{"--html", full}, verdict.Pass, nil, "--html: write /dev/full: no space left on device"},
	} {
		cmd := newSoak()
		if err := cmd.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		var messages, stderr bytes.Buffer
		cmd.SetErr(&stderr)
		var file *web.File
		if c.before == nil {
			var err error
			if file, err = web.OpenFile(full); err != nil {
				t.Fatal(err)
			}
		}
		err := soakFlags{html: full}.report(cmd, &messages, soak.Result{Verdict: c.verdict}, file, c.before)
		if err == nil {
			err = exitCode(exitOK)
		}
		told := strings.Contains(messages.String(), "\n"+string(c.verdict)+": ") && !strings.Contains(messages.String(), "picture:")
		if err.Error() != c.want || !told || (c.before != nil) != strings.Contains(stderr.String(), "soak: --html: open history.html") {
			t.Errorf("%s: %v; want %s, the verdict, and what could not be written:\n%s%s", what, err, c.want, &messages, &stderr)
		}
	}
}

// A soak with one fault sells, judges, draws the page, and prints the command that repeats it.
func TestSoakReportsOneFault(t *testing.T) {
	suite.LongOnly(t, "package soak judges and draws what is recorded; TestInterruptedCommandLeavesNothingBehind has one that sells")
	suite.Needs(t, "redis-server")
	t.Parallel()
	picture := filepath.Join(t.TempDir(), "history.html")
	var stdout, stderr bytes.Buffer
	arguments := "soak --lock v10 --minutes 0.1 --seed 3 --faults lose-reply --json --html " + picture
	code := Run(t.Context(), strings.Fields(arguments), &stdout, &stderr)
	var result soak.Result
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, &stderr)
	}
	// On a busy machine, sales may resume late, or be few; every other rule must hold.
	for _, rule := range result.Rules {
		timed := strings.HasPrefix(rule.Rule, "sales resumed") || strings.HasPrefix(rule.Rule, "each fault hit")
		if !timed && rule.Broken+rule.Unchecked > 0 {
			t.Errorf("%+v", rule)
		}
	}
	hit := len(result.Faults) == 1 && result.Faults[0].SalesHit > 0
	if code != result.Verdict.ExitCode() || result.Sales == 0 || result.Lost != 0 || !hit {
		t.Errorf("exit code %d, %+v", code, result)
	}
	if want := "soak --lock v10 --minutes 0.1 --replicas 3 --seed 3 --faults lose-reply"; !strings.Contains(result.Command, want) {
		t.Errorf("command %q; want %q", result.Command, want)
	}
	if text, err := os.ReadFile(picture); err != nil || !bytes.Contains(text, []byte("lose-reply")) {
		t.Errorf("the picture has %d bytes, and no fault: %v", len(text), err)
	}
	if !strings.Contains(stderr.String(), string(result.Verdict)+": ") {
		t.Errorf("stderr without the verdict:\n%s", &stderr)
	}
	if _, err := os.Stat("history.html"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a page was written without --html: %v", err)
	}
}
