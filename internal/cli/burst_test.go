package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/load"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// TestReadmeCommands sends a thousand buyers to v0.
func TestBurstShowsWhichLocksHold(t *testing.T) {
	t.Parallel()
	crowd, queue := 200, 30
	if suite.Long {
		crowd, queue = 1000, 100
	}
	burst := func(buyers int, lock string) (int, load.Result) {
		n := strconv.Itoa(buyers)
		code, stdout, stderr := command(t, "burst", "--server.addr", shoptest.UnusedAddr(t), "-n", n, "-c", n, "--lock", lock,
			shoptest.PatientNodes, "--sale.think_time", "2ms", "--json") // else thirty fast sales may never overlap, and the verdict is UNKNOWN
		var result load.Result
		if err := json.Unmarshal([]byte(stdout), &result); err != nil {
			t.Fatalf("burst --lock %s: exit code %d, %s%s: %v", lock, code, stdout, stderr, err)
		}
		if !strings.HasPrefix(stderr, "burst: no lockstep at http://") || !strings.Contains(stderr, "is both the buyers and the shop") {
			t.Errorf("the first line does not name the server: %s", stderr)
		}
		return code, result
	}
	// Whether late-commit loses an update is left to chance here; the explorer and the lab commit-after-unlock show it.
	code, r := burst(crowd, "v0")
	if code != 1 || r.Verdict != verdict.Oversold || r.Lost == 0 || r.OK != crowd || r.Sold != int64(crowd) {
		t.Errorf("v0: exit code %d, %+v; want lost updates", code, r)
	}
	for _, lock := range shoptest.Sample("v1", "v6", "v10", "redlock", "local", "atomic") { // enough: the others start the same goroutines
		code, r := burst(queue, lock)
		all := r.OK == queue && r.Sold == int64(queue) && r.Remaining == 0 && r.Failed == 0
		if code != 0 || r.Verdict != verdict.Pass || !all || r.Lock != lock {
			t.Errorf("%s: exit code %d, %+v; want a PASS", lock, code, r)
		}
	}
}

func TestBurstUsesRunningServer(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t, "--lock.version", "v5")
	code, stdout, stderr := command(t, "burst", "--server.addr", s.Addr, "-n", "30", "-c", "10", "--stock", "20", "--retry")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(stderr, "burst: asking the server at http://"+s.Addr) {
		t.Errorf("it did not ask the running server: %s", stderr)
	}
	for _, says := range []string{
		"30 in", "20 sold", "10 sold out, 0 failed, 0 unknown", "20 at the start, 0 left", "PASS: stock and orders agree", "v5",
	} {
		if !strings.Contains(stdout, says) {
			t.Errorf("the table does not say %q:\n%s", says, stdout)
		}
	}
	code, stdout, stderr = command(t, "burst", "--target", s.URL()+"/,"+s.URL(), "-n", "1", "-c", "1")
	if code != 2 || !strings.Contains(stdout, "UNKNOWN: no two requests were in flight at once, so") {
		t.Errorf("one lonely buyer: exit code %d\n%s%s", code, stdout, stderr)
	}
}

// When the progress bar is finished, its line is cleared, including what the terminal has written beside it.
func TestProgressBarLeavesEmptyLine(t *testing.T) {
	var terminal strings.Builder
	step, finish := drawProgress(&terminal, 10, time.Time{})
	step(4)
	drawn := terminal.String()
	terminal.WriteString("^C")
	finish()
	if !strings.Contains(drawn, "4/10") || !strings.HasSuffix(terminal.String(), "\r\033[K") {
		t.Errorf("drawn: %q; in the end: %q", drawn, terminal.String())
	}
}

func TestBurstRejectsWrongFlags(t *testing.T) {
	free, s := shoptest.UnusedAddr(t), shoptest.Start(t)
	silent := "http://" + free
	assertRefused(t, map[string]string{
		"burst -n 0":               "-n 0 is not allowed: want from 1",
		"burst -n x":               "invalid argument",
		"burst -c -1":              "-c -1 is not allowed",
		"burst --stock -1":         "--stock -1 is not allowed: want from 0 to 1000000000",
		"burst --lock v42":         `"v42"; there are ` + strings.Join(evolution.Names(), ", "),
		"burst --timeout 0s":       "--timeout 0s is not allowed",
		"burst --min-answered 99":  "--min-answered 99 is not allowed: want from 0 (any share will do) to 1 (every request)",
		"burst --min-answered nan": "--min-answered NaN is not allowed",
		"burst --target nowhere":   `--target "nowhere" is not allowed: want a URL such as http://`,
		"burst --target " + silent: silent + ": lockstep does not answer there",
		"burst --nonsense":         "unknown flag",
		"burst extra":              "unknown command",
		"burst --sale.think_time 1s --target " + s.URL():      "--sale.think_time is not allowed: it only affects a server started by burst",
		"burst --redis.addrs 127.0.0.1 --server.addr " + free: "want host:port", // a developer's own server may run at the default one
	})
}
