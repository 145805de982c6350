package cli

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// runExploreCommand runs explore with this standard input.
func runExploreCommand(t *testing.T, typed string, args ...string) (stdout string, err error) {
	t.Helper()
	cmd := newExplore()
	var out, errs bytes.Buffer
	cmd.SetIn(strings.NewReader(typed))
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestExploreStepsInteractively(t *testing.T) {
	typed := []string{"1", "expiry", "expiry", "99", "sleep", "d", "B:SET", "u", "?", "", "B:SET", "q", "A:GET"}
	stdout, err := runExploreCommand(t, strings.Join(typed, "\n"), "v2", "--faults", "expiry=1", "--step")
	var code exitCode
	if !errors.As(err, &code) || code != exitBroken {
		t.Errorf("%v; want exit code %d", err, exitBroken)
	}
	at := 0
	for _, want := range []string{
		"  1  A:SET  A takes the lock\n",
		"  –  expiry  no key in Redis has an expiry\n",
		"  1  ├────────────────▶│   SET distributedLock 1 ex 10 NX → OK\n",
		"  3  expiry  10s later: A's lock expires (expiry)\n",
		"  2  ┄┄┄┄┄ expiry ┄┄┄┄┄┄\n     ┃                 ◷   10s later: A's lock expires\n",
		"expiry cannot happen now: it needs --faults expiry=2.\n",
		"There is no choice 99.\n",
		"sleep is not a step. Type a number",
		"  two-holders      in 1: B:SET\n",
		"  left-behind      never, whatever happens from here\n",
		"step 3 shows two-holders: A and B are both in the critical section\n",
		"A thick line is a sale",
		"step 3 shows two-holders: A and B are both in the critical section\n",
		`Replay it: explore v2 --faults expiry=1 --replay "A:SET expiry B:SET"`,
	} {
		i := strings.Index(stdout[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing after\n%s\nin\n%s", want, stdout[:at], stdout)
		}
		at += i + len(want)
	}
}

// --step starts after a schedule given by --replay, and ends with standard input.
func TestExploreStepsFromSchedule(t *testing.T) {
	stdout, err := runExploreCommand(t, strings.Repeat("u\n", 3)+"A:GET", "v4", "--step", "--replay", "A:SET A:GET")
	if err != nil || !strings.Contains(stdout, "A:write ") || !strings.Contains(stdout, "This is the start.") ||
		strings.Contains(stdout, "Replay it") {
		t.Errorf("%v\n%s", err, stdout)
	}
	if _, err := runExploreCommand(t, "", "v4", "--step", "--replay", "A:GET"); err == nil || !strings.Contains(err.Error(), "step 1, A:GET") {
		t.Errorf("%v; want step 1 not to fit", err)
	}
}

func TestExploreWhyExplainsAnomaly(t *testing.T) {
	for _, args := range []string{"explore v0 --why", "explore v0 --why --replay"} {
		line := strings.Fields(args)
		if strings.HasSuffix(args, "--replay") {
			line = append(line, "A:GET B:GET A:write B:write")
		}
		code, stdout, _ := command(t, line...)
		for _, want := range []string{
			"Why: step 2, B:GET, is the point of no return. From there on, every way shows lost-update.\n",
			"Instead, A:write would have avoided it: A writes stock 99; A has sold, and then B:GET B:write.\n",
		} {
			if code != exitBroken || !strings.Contains(stdout, want) {
				t.Errorf("%s: exit code %d, %s; want %q", args, code, stdout, want)
			}
		}
		if _, stdout, _ := command(t, append(line, "--json")...); !strings.Contains(stdout, `"point": 2,`) ||
			!strings.Contains(stdout, `"token": "A:write"`) {
			t.Errorf("%s", stdout)
		}
	}
	_, stdout, _ := command(t, "explore", "v2", "--faults", "expiry=1", "--anomaly", "foreign-release", "--why")
	if !strings.Contains(stdout, "Why: step 4, expiry, made it possible. Before it, no way shows foreign-release.\n"+
		"It could be avoided until step 6, A:DEL, which shows it.\nInstead, B:GET would have avoided it") {
		t.Errorf("%s", stdout)
	}
	_, stdout, _ = command(t, "explore", "v4", "--nested", "1", "--why")
	if !strings.Contains(stdout, "Why: it could not be avoided from the start.") {
		t.Errorf("%s", stdout)
	}
}

func TestExploreAgainstComparesLocks(t *testing.T) {
	code, stdout, stderr := command(t, "explore", "v1", "--faults", "crash=1", "--against", "v2")
	if code != exitBroken || !strings.Contains(stdout, "\n≠  1 A:SET/dies-after"+strings.Repeat(" ", 33)+"A:SET/dies-after\n") ||
		!strings.Contains(stdout, "Row 1 is the first that differs.\nThe state after it: under v1, lock: A; stock: 100; under v2, lock: A,") ||
		!strings.Contains(stdout, "v2 survives: all sales end. "+
			"No schedule of it shows left-behind (2 actors --faults crash=1).\n") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = command(t, "explore", "v3", "--against", "v4", "--replay", "A:SET B:SET A:GET")
	if code != exitOK || !strings.Contains(stdout, "No step differs") ||
		!strings.Contains(stdout, "\nUnder v4 all sales end.\n") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	_, stdout, _ = command(t, "explore", "v1", "--faults", "crash=1", "--against", "v2", "--json")
	if !strings.Contains(stdout, `"differs": 1,`) || !strings.Contains(stdout, `"outcome": "never"`) ||
		!strings.Contains(stdout, `"token": "A:SET/dies-after"`) {
		t.Errorf("%s", stdout)
	}
	code, _, stderr = command(t, "explore", "v4", "--against", "v5")
	if code != exitTrouble || !strings.Contains(stderr, "pass the schedule to compare with --replay") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// A line that is too long and an unreadable standard input are reported.
func TestExploreStepReportsInputError(t *testing.T) {
	typed := "A:SET\n" + strings.Repeat("x", 100_000) + "\nA:GET\n" + strings.Repeat("x", longestLine+1) + "\nA:write"
	stdout, err := runExploreCommand(t, typed, "v4", "--step")
	if err == nil || err.Error() != "standard input: a line is longer than 1048576 bytes" {
		t.Errorf("%v; want that a line is too long", err)
	}
	if !strings.Contains(stdout, `--replay "A:SET A:GET"`) {
		t.Errorf("the steps before it are lost:\n%s", stdout[max(0, len(stdout)-500):])
	}
	all, broken := readLines(t.Context(), iotest.ErrReader(syscall.EISDIR))
	if _, more := <-all; more || !errors.Is(broken(), syscall.EISDIR) {
		t.Errorf("%v; want the reader's error", broken())
	}
}
