package ownlock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/test/suite"
)

// Each step of the lock fails its own test, with a counterexample, until it is done; then it passes that test and all earlier ones.
func TestStepsPassTheirOwnTestsInOrder(t *testing.T) {
	suite.LongOnly(t, "it builds a module seven times")
	dir, reference := writeModule(t), readFile(t, "testdata/reference.go.txt")
	for step := range Steps + 1 {
		if step > 0 { // step 0 is the template as it is written
			text := strings.Replace(reference, "const step = 0", fmt.Sprint("const step = ", step), 1)
			if err := os.WriteFile(filepath.Join(dir, "lock.go"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := runTests(t, dir)
		var passed, failed []string
		for _, test := range regexp.MustCompile(`(?m)^--- (PASS|FAIL): TestStep(\d)`).FindAllStringSubmatch(out, -1) {
			if test[1] == "PASS" {
				passed = append(passed, test[2])
			} else {
				failed = append(failed, test[2])
			}
		}
		var want []string
		for done := 1; done <= step; done++ {
			want = append(want, fmt.Sprint(done))
		}
		next := fmt.Sprint(step + 1)
		if !slices.Equal(passed[:min(step, len(passed))], want) || (err == nil) != (step == Steps) ||
			step < Steps && (!slices.Contains(failed, next) || !strings.Contains(out, "Again: ")) {
			t.Errorf("step %d passes %v, and fails %v: %v\n%s", step, passed, failed, err, out)
		}
	}
}

// Common mistakes fail the test of their step at once, with an explanation.
func TestMistakesFailTheirStep(t *testing.T) {
	suite.LongOnly(t, "it builds a module for each mistake")
	const (
		removes = "return c.Del(ctx, key).Err()\n\tcase step == 3"
		asks    = "time.After(Pause)"
		counts  = `redis.call("HINCRBY", KEYS[1], ARGV[1], -1) <= 0`
		takes   = `l.Key, "1", 0).Result()`
		first   = "TestStep1Exclusive"
		stolen  = "TestStep6RenewedAndToldOfALoss/told_of_a_loss"
		cut     = "TestStep6RenewedAndToldOfALoss/told_that_Redis_is_gone"
	)
	dir, reference := writeModule(t), readFile(t, "testdata/reference.go.txt")
	for name, c := range map[string]struct {
		step             int
		was, is          string
		fails, becauseOf string
	}{
		"Unlock does nothing":         {1, removes, "return nil\n\tcase step == 3", first, "left-behind: the lock of A stays forever"},
		"Lock asks without a pause":   {1, asks, "time.After(0)", first, "busy: "},
		"Lock does not believe Redis": {1, takes, takes + "\n\t\ttook = false", first, "stuck: "},
		"the expiry comes second": {
			2, `took, err = l.Client.SetNX(ctx, l.Key, "1", TTL).Result()`,
			`if took, err = l.Client.SetNX(ctx, l.Key, "1", 0).Result(); took { l.Client.Expire(ctx, l.Key, TTL) }`,
			"TestStep2FreedAfterACrash", "left-behind: ",
		},
		"a script returns nothing": {
			4, `then return redis.call("DEL", KEYS[1]) end return 0`, `then redis.call("DEL", KEYS[1]) end`,
			"TestStep4Atomically/without_an_error", "Unlock: redis: nil: a script that returns nothing",
		},
		"the inner Unlock gives the lock back": {5, counts, "true", "TestStep5Nested", "2 are inside"},
		"Unlock does not count down": {
			5, counts, `tonumber(redis.call("HGET", KEYS[1], ARGV[1])) == 1`, "TestStep5Nested", "the lock is still in Redis",
		},
		"the renewal is anybody's": {
			6, `if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`,
			`return redis.call("PEXPIRE", KEYS[1], ARGV[2])`, stolen, "lease.Context() was not cancelled",
		},
		"the renewal's answer counts for nothing": {
			6, "err != nil || !ours", "err != nil || !ours && false", stolen, "lease.Context() was not cancelled",
		},
		"the renewal's errors count for nothing": {6, "err != nil || !ours", "err == nil && !ours", cut, "lease.Context() goes on"},
		"the renewal waits as long as its client": {
			6, "context.WithDeadline(held, expires)", "context.WithCancel(held)", cut, "lease.Context() goes on",
		},
		"the renewal never stops": {
			6, "cancel(); <-ended }\n\tgo func() {\n\t\tdefer close(ended)\n",
			"cancel() }\n\tgo func() {\n\t\tdefer close(ended)\n\t\tfor { time.Sleep(TTL / 2); " +
				"renew.Run(held, l.Client, []string{l.Key}, owner, TTL.Milliseconds()) }\n",
			stolen, "goroutine-leak: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(reference, "const step = 0", fmt.Sprint("const step = ", c.step), 1)
			if strings.Count(text, c.was) != 1 {
				t.Fatalf("%q is not once in the reference", c.was)
			}
			text = strings.Replace(text, c.was, c.is, 1)
			if err := os.WriteFile(filepath.Join(dir, "lock.go"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := runTests(t, dir, "-run", "^"+strings.ReplaceAll(c.fails, "/", "$/^")+"$")
			if err == nil || !strings.Contains(out, "--- FAIL: "+c.fails) || !strings.Contains(out, c.becauseOf) {
				t.Errorf("%v; want %s to fail, because of %q\n%s", err, c.fails, c.becauseOf, out)
			}
		})
	}
}

// runTests runs the tests of a module.
func runTests(t *testing.T, dir string, flags ...string) (out string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1", "-v"}, flags...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	text, err := command.CombinedOutput()
	return string(text), err
}

// writeModule returns a directory with the module in it.
func writeModule(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "my lock")
	if err := Write(t.Context(), dir, root, language.English); err != nil {
		t.Fatal(err)
	}
	return dir
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestExistingFilesAreKept(t *testing.T) {
	dir := writeModule(t)
	if err := Write(t.Context(), dir, "../..", language.English); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a second time: %v", err)
	}
	if err := Write(t.Context(), filepath.Join(dir, "lock.go"), "../..", language.English); err == nil {
		t.Error("a file is taken for a folder")
	}
	empty := t.TempDir()
	if err := Write(t.Context(), empty, "../..", language.Chinese); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if readme := readFile(t, filepath.Join(empty, "README.md")); !strings.Contains(readme, "自己写一把锁") {
		t.Errorf("the README is\n%s", readme)
	}
}
