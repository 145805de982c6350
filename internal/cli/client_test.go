package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/test/shoptest"
)

// A client uses only the settings that it needs, even beside another program's config.yaml or with a server's environment.
func TestClientsIgnoreServerSettings(t *testing.T) {
	s := shoptest.Start(t, "--lock.version", "v4")
	t.Chdir(t.TempDir())
	const file = "lock:\n  version: v99\nredis: {addrs: nowhere}\nadmin: {open: maybe}\n"
	if err := os.WriteFile("config.yaml", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKSTEP_REDIS_ADDRS", "x y")
	t.Setenv("LOCKSTEP_LOCK_VERSION", "v99")
	t.Setenv("LOCKSTEP_NONSENSE", "1")
	for line, want := range map[string]string{
		"health --server.addr " + s.Addr:                     s.URL() + " is ready",
		"burst -n 20 -c 20 --target " + s.URL():              "20 sold",
		"burst -n 20 -c 20 --server.addr " + s.Addr:          "burst: asking the server at " + s.URL(),
		"burst -n 1 --server.addr " + shoptest.UnusedAddr(t): "burst cannot start a server itself: ",
		"health --server.addr nowhere":                       `flag: server.addr: "nowhere" is not allowed`,
	} {
		code, stdout, stderr := command(t, strings.Fields(line)...)
		refused := strings.Contains(want, "not allowed") || strings.Contains(want, "cannot")
		if (code == exitTrouble) != refused || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: exit code %d, %s%s; want %q", line, code, stdout, stderr, want)
		}
	}
	t.Setenv("LOCKSTEP_SERVER_ADDR", "nowhere")
	if code, _, stderr := command(t, "health"); code != exitTrouble || !strings.Contains(stderr, "environment: server.addr: ") {
		t.Errorf("exit code %d, %s; want that the variable is refused", code, stderr)
	}
}

// A target is shown without its user and password, whether it is valid or not.
func TestTargetErrorsHidePasswords(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t)
	for target, want := range map[string]string{
		strings.Replace(s.URL(), "//", "//u:Xs3cret@", 1): "burst: asking " + s.URL() + "\n",
		"http://u:Xs3cret@" + shoptest.UnusedAddr(t):      ": lockstep does not answer there; start it with",
		"http//u:Xs3cret@h":                               "--target this value is not allowed",
		"http://u:Xs3cret@h/?x":                           "--target this value is not allowed",
		"http://h/#x":                                     `--target "http://h/#x" is not allowed`,
	} {
		_, stdout, stderr := command(t, "burst", "-n", "2", "-c", "2", "--html", filepath.Join(t.TempDir(), "x.html"), "--target", target)
		if !strings.Contains(stderr, want) || strings.Contains(stdout+stderr, "Xs3cret") {
			t.Errorf("%s: %s%s; want %q", target, stdout, stderr, want)
		}
	}
}

// Outside a clone, site and check name the missing sources; without the go command, they say so.
func TestSiteAndCheckNameMissingSources(t *testing.T) {
	clone := t.TempDir()
	t.Chdir(t.TempDir())
	const sources = ": the sources of lockstep are neither here nor in a parent directory: change to a clone of lockstep"
	for line, want := range map[string]string{
		"site x": "site: compiling the programs of the page" + sources,
		"check":  "check compiles the exercises" + sources,
	} {
		if code, _, stderr := command(t, strings.Fields(line)...); code != exitTrouble || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s; want %q", line, code, stderr, want)
		}
	}
	t.Setenv("PATH", "")
	if _, err := commandRunner(clone)(t.Context(), nil, "go", "env"); err == nil ||
		!strings.HasPrefix(err.Error(), "command go not found in PATH") {
		t.Errorf("%v; want that there is no go command", err)
	}
}
