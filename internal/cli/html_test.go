package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// --html does not change the exit code. It writes one file if there is something to show, and otherwise leaves none.
func TestHTMLFlagWritesOneFile(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		has  string // part of the file; "": no file
	}{
		"explore v2 --faults expiry=1 --each":                      {1, `"anomaly":"foreign-release"`},
		"explore v2 --faults expiry=1 --replay A:SET,expiry,B:SET": {1, `"says":"A and B are both in the critical section"`},
		"explore v2 --replay A:SET":                                {0, `"token":"A:SET"`},
		"explore v6":                                               {0, ""},
		"explore v2 --replay B:DEL":                                {2, ""},
		"burst -n 8 -c 8 --server.addr 127.0.0.1:1 --sale.think_time 100ms --lock v4 --lang zh": {0, `"name":"tally"`},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "out.html")
			var args []string
			for _, arg := range strings.Fields(line) {
				if !strings.Contains(arg, "=") {
					arg = strings.ReplaceAll(arg, ",", " ")
				}
				args = append(args, arg)
			}
			code, stdout, stderr := command(t, append(args, "--html", file)...)
			text, err := os.ReadFile(file)
			if code != want.code || (err == nil) != (want.has != "") || !strings.Contains(string(text), want.has) {
				t.Fatalf("exit code %d, %v, %d bytes; want %d and %q\n%s%s", code, err, len(text), want.code, want.has, stdout, stderr)
			}
			for _, address := range regexp.MustCompile(`(src|href)="?https?:|url\(`).FindAllString(string(text), -1) {
				t.Errorf("it asks a server: %s", address)
			}
		})
	}
}

// If the path cannot be written, the command fails before it does anything. If there is nothing to write, an existing file stays as it is.
func TestUnwritableHTMLFileIsAnError(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"explore v2 --faults expiry=1", "burst -n 4 -c 2 --server.addr 127.0.0.1:1"} {
		code, stdout, stderr := command(t, append(strings.Fields(line), "--html", filepath.Join(t.TempDir(), "not", "there.html"))...)
		if code != exitTrouble || stdout != "" || !strings.Contains(stderr, "--html: open ") {
			t.Errorf("%s: exit code %d, %s%s; want %d and what is wrong", line, code, stdout, stderr, exitTrouble)
		}
	}
	kept := filepath.Join(t.TempDir(), "kept.html")
	if err := os.WriteFile(kept, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, stderr := command(t, "explore", "v6", "--html", kept)
	if text, err := os.ReadFile(kept); err != nil || string(text) != "before" || !strings.Contains(stderr, "was not written") {
		t.Errorf("%v: the file is now %q; %s", err, text, stderr)
	}
	if code, _, stderr := command(t, "explore", "--all", "--html", kept); code != exitTrouble || !strings.Contains(stderr,
		"--html writes a counterexample") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// The verdict is printed before the error about the page. The exit code is exitTrouble, because the page was requested.
func TestVerdictIsPrintedBeforePageError(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no disk is full here: ", err)
	}
	for line, says := range map[string]string{
		"explore v2 --replay A:SET":    "This schedule shows no anomaly.",
		"explore v2 --faults expiry=1": "v2 shows two-holders",
		"burst -n 8 -c 8 --server.addr 127.0.0.1:1 --sale.think_time 100ms --lock v4": "verdict ",
	} {
		code, stdout, stderr := command(t, append(strings.Fields(line), "--lang", "en", "--html", full)...)
		if code != exitTrouble || !strings.Contains(stdout, says) || !strings.Contains(stderr, "--html: write "+full) {
			t.Errorf("%s: exit code %d; want %d, %q and what is wrong:\n%s%s", line, code, exitTrouble, says, stdout, stderr)
		}
	}
}
