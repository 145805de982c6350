package cli

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"testing"

	"lockstep/internal/cluster/job"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// testJob is a running lockstep job --json.
type testJob struct {
	t      *testing.T
	said   *shoptest.Buffer // for people
	stdout *shoptest.Buffer
	end    func() // as ctrl-C
	ended  chan int
}

// startJob starts replicas of a job on a tick long enough for a machine that stalls now and then; the caller waits for its result.
func startJob(t *testing.T, args ...string) *testJob {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	j := &testJob{t: t, said: &shoptest.Buffer{}, stdout: &shoptest.Buffer{}, end: end, ended: make(chan int, 1)}
	t.Cleanup(func() {
		if end(); t.Failed() {
			t.Logf("lockstep job %v said\n%s", args, j.said)
		}
	})
	go func() {
		j.ended <- Run(ctx, append([]string{"job", "--every", "2s", "--json"}, args...), j.stdout, j.said)
	}()
	return j
}

// result waits until the job ends.
func (j *testJob) result() (code int, result job.Tally) {
	j.t.Helper()
	code = <-j.ended
	j.end()
	if err := json.Unmarshal([]byte(j.stdout.String()), &result); err != nil {
		j.t.Errorf("exit code %d, %v: %s%s", code, err, j.stdout, j.said)
	}
	return code, result
}

var ranLine = regexp.MustCompile(`(?m)^tick (\S+) · replica (r\d+) \(pid (\d+)\) ran it$`)

// runs are the lines said about runs: the tick, the replica and its process.
func (j *testJob) runs() [][]string { return ranLine.FindAllStringSubmatch(j.said.String(), -1) }

func TestJobIsRunOnceATick(t *testing.T) {
	t.Parallel()
	jobs, want := map[string]*testJob{}, map[string]int{"none": 3, "v6": 1} // every lock: TestOnceATick, in package job
	for lock := range want {
		jobs[lock] = startJob(t, "--lock", lock, "--ticks", "2", "--redis.embedded_addr", shoptest.AnyPort)
	}
	for lock, j := range jobs {
		wantCode, wantVerdict := 0, verdict.Holds
		if want[lock] != 1 {
			wantCode, wantVerdict = 1, verdict.Broken
		}
		code, result := j.result()
		if code != wantCode || result.Verdict != wantVerdict || result.Ticks != 2 || result.Replicas != 3 || len(result.Counts) != 2 {
			t.Errorf("%s: exit code %d, %+v\n%s", lock, code, result, j.said)
		}
		for _, count := range result.Counts {
			if least := min(want[lock], 2); count.Runs > want[lock] || count.Runs < least { // a busy machine may bring one of three too late
				t.Errorf("%s: %v was run %d times; want %d to %d", lock, count.Tick, count.Runs, least, want[lock])
			}
		}
		if said := len(j.runs()); said < result.Runs {
			t.Errorf("%s: %d runs, of which %d were said:\n%s", lock, result.Runs, said, j.said)
		}
	}
}

// Two that were started by themselves, as on two machines, share a Redis, and count each other's runs.
func TestJobStartedTwice(t *testing.T) {
	t.Parallel()
	// before any process is started: forked while a port is tried, it would hold it for a moment
	addrs := map[string]string{"none": shoptest.UnusedAddr(t), "v4": shoptest.UnusedAddr(t)}
	var locks sync.WaitGroup
	for lock, want := range map[string]int{"none": 2, "v4": 1} {
		flags := []string{"--replicas", "1", "--redis.embedded_addr", addrs[lock], "--lock", lock}
		one := startJob(t, flags...)
		suite.Eventually(t, "the first one is up", func() bool { return strings.Contains(one.said.String(), "embedded Redis") })
		two := startJob(t, append(flags, "--ticks", "2")...)
		locks.Go(func() {
			_, result := two.result()
			one.end()
			if _, all := one.result(); all.Ticks < 2 {
				t.Errorf("%s: the first one counts %+v", lock, all)
			}
			fits := result.Runs == 2*want || want == 2 && result.Runs == 3 // a busy machine may bring one of them too late, once
			if result.Ticks != 2 || !fits || strings.Contains(two.said.String(), "embedded Redis") {
				t.Errorf("%s: %+v; want %d runs a tick\n%s", lock, result, want, two.said)
			}
		})
	}
	locks.Wait()
}

func TestJobRejectsWrongFlags(t *testing.T) {
	refuses(t, true, map[string]string{
		"job --every 10ms":  "--every 10ms is not allowed: want from 100ms to 24h",
		"job --every soon":  `"soon" for "--every"`,
		"job --work -1s":    "--work -1s is not allowed",
		"job --replicas 0":  "--replicas 0 is not allowed: want from 1 to 100",
		"job --ticks -1":    "--ticks -1 is not allowed: want from 0 (until interrupted)",
		"job --lock v42":    `"v42"; there are v0, v1`,
		"job --lock.ttl 1s": "--lock.ttl is not allowed: job takes only --redis.…",
		"job extra":         `unknown command "extra"`,
		"job --redis.addrs " + shoptest.UnusedAddr(t): "no Redis answers",
		"job --redis.embedded_addr nowhere":           "redis.embedded_addr",
	})
}

func TestJobPrintsTally(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := command(t, "job", "--lock", "none", "--ticks", "1", "--replicas", "2", "--redis.embedded_addr", shoptest.AnyPort)
	for _, says := range []string{
		"lockstep: a job every 1s · 2 replicas · lock v0 (no lock) · embedded Redis", "replica r1", "replica r2", "2 times",
		"ticks", "1: 0 run once, 1 more often, 0 left out as a run was going on, 0 missed", "broken: ", "some ticks were run more than once",
	} {
		if !strings.Contains(stdout, says) {
			t.Errorf("it does not say %q", says)
		}
	}
	if code != 1 || stderr != "" || !strings.HasPrefix(stdout, "lockstep: a job") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
