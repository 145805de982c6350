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
	stderr *shoptest.Buffer // messages for people
	stdout *shoptest.Buffer
	end    func() // interrupts it, like ctrl-C
	ended  chan int
}

// startJob starts the replicas of a job. The tick is long enough for a machine that stalls now and then. The caller waits for the result.
func startJob(t *testing.T, args ...string) *testJob {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	j := &testJob{t: t, stderr: &shoptest.Buffer{}, stdout: &shoptest.Buffer{}, end: end, ended: make(chan int, 1)}
	t.Cleanup(func() {
		if end(); t.Failed() {
			t.Logf("lockstep job %v said\n%s", args, j.stderr)
		}
	})
	go func() {
		j.ended <- Run(ctx, append([]string{"job", "--every", "2s", "--json"}, args...), j.stdout, j.stderr)
	}()
	return j
}

// result waits until the job ends, and returns its exit code and result.
func (j *testJob) result() (code int, result job.Tally) {
	j.t.Helper()
	code = <-j.ended
	j.end()
	if err := json.Unmarshal([]byte(j.stdout.String()), &result); err != nil {
		j.t.Errorf("exit code %d, %v: %s%s", code, err, j.stdout, j.stderr)
	}
	return code, result
}

var ranLine = regexp.MustCompile(`(?m)^tick (\S+) · replica (r\d+) \(pid (\d+)\) ran it$`)

// runs returns the runs that were reported, each as the line, the tick, the replica and its pid.
func (j *testJob) runs() [][]string { return ranLine.FindAllStringSubmatch(j.stderr.String(), -1) }

func TestJobRunsOncePerTick(t *testing.T) {
	t.Parallel()
	jobs, want := map[string]*testJob{}, map[string]int{"none": 3, "v6": 1} // TestEachLockRunsTickOnce in package job has every lock
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
			t.Errorf("%s: exit code %d, %+v\n%s", lock, code, result, j.stderr)
		}
		for _, count := range result.Counts {
			if least := min(want[lock], 2); count.Runs > want[lock] || count.Runs < least { // on a busy machine, one of three replicas may be late
				t.Errorf("%s: %v was run %d times; want %d to %d", lock, count.Tick, count.Runs, least, want[lock])
			}
		}
		if said := len(j.runs()); said < result.Runs {
			t.Errorf("%s: %d runs, %d of them reported:\n%s", lock, result.Runs, said, j.stderr)
		}
	}
}

// Two jobs that were started separately, as on two machines, share a Redis and count each other's runs.
func TestSeparatelyStartedJobsShareTicks(t *testing.T) {
	t.Parallel()
	// before any process is started, because a process that is forked meanwhile would inherit the listener
	addrs := map[string]string{"none": shoptest.UnusedAddr(t), "v4": shoptest.UnusedAddr(t)}
	var locks sync.WaitGroup
	for lock, want := range map[string]int{"none": 2, "v4": 1} {
		flags := []string{"--replicas", "1", "--redis.embedded_addr", addrs[lock], "--lock", lock}
		one := startJob(t, flags...)
		suite.Eventually(t, "the first one is up", func() bool { return strings.Contains(one.stderr.String(), "embedded Redis") })
		two := startJob(t, append(flags, "--ticks", "2")...)
		locks.Go(func() {
			_, result := two.result()
			one.end()
			if _, all := one.result(); all.Ticks < 2 {
				t.Errorf("%s: the first one counts %+v", lock, all)
			}
			fits := result.Runs == 2*want || want == 2 && result.Runs == 3 // on a busy machine, one of them may be late once
			if result.Ticks != 2 || !fits || strings.Contains(two.stderr.String(), "embedded Redis") {
				t.Errorf("%s: %+v; want %d runs a tick\n%s", lock, result, want, two.stderr)
			}
		})
	}
	locks.Wait()
}

func TestJobRejectsWrongFlags(t *testing.T) {
	assertRefused(t, map[string]string{
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
