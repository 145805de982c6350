package variants_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/test/variants"
)

// unrulyName names the variant that the process of TestUnrulyAlone is for.
const unrulyName = "LOCKSTEP_UNRULY"

// Each runs in a process of its own, so that one that brings it down does not hide the others.
func TestUnruly(t *testing.T) {
	for _, v := range variants.Unruly() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			said := alone(t, v.Name)
			t.Logf("%s: %s", v.Name, said)
			switch {
			case v.Gap.Luck && plain(said):
			case v.Gap.Today == "" && !plain(said):
				t.Errorf("%s; want a clear error", said)
			case v.Gap.Today != "" && plain(said):
				t.Errorf("%s, as it should be: the gap is closed, remove it", said)
			case !strings.HasPrefix(said, v.Gap.Today):
				t.Errorf("%s; the gap says that today it is %s", said, v.Gap.Today)
			}
		})
	}
}

// plain reports whether an answer says what the lock did wrong, and at which line, unless that follows from the words.
func plain(said string) bool {
	known := []string{"blind: ", "unrepeatable: ", "panicked: ", "ended the goroutine", "keys of a lock are"}
	contains := func(words string) bool { return strings.Contains(said, words) }
	line := slices.ContainsFunc([]string{"unruly.go:", "misused.go:", "parts.go:"}, contains) && slices.ContainsFunc(known, contains)
	return line || contains("does not have this command") || contains("neither a lease nor an error")
}

// alone is the answer of a process that explores one variant; or how it crashed.
func alone(t *testing.T, name string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestUnrulyAlone$", "-test.v")
	command.Env = append(os.Environ(), unrulyName+"="+name)
	output, _ := command.CombinedOutput() // it may fail for the goroutines that are left
	if said := regexp.MustCompile(`(?s)<<(.*)>>`).FindSubmatch(output); said != nil {
		return string(said[1])
	}
	if crash := regexp.MustCompile(`(?m)^(panic|fatal error): .*`).Find(output); crash != nil {
		return "crash: " + string(crash)
	}
	return "no answer"
}

// TestUnrulyAlone is run by TestUnruly, in a process of its own.
func TestUnrulyAlone(t *testing.T) {
	name := os.Getenv(unrulyName)
	all := variants.Unruly()
	i := slices.IndexFunc(all, func(v variants.Variant) bool { return v.Name == name })
	if i < 0 {
		t.Skip("TestUnruly runs it")
	}
	few := bounds()
	few.Schedules, few.Patience = 1000, 100*time.Millisecond
	said, _ := answer(t.Context(), all[i], few)
	fmt.Printf("<<%s>>\n", said)
}
