package suite

import (
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits for something that must happen. It is long enough for a busy machine.
const Patience = 30 * time.Second

// Eventually waits until a condition holds, and fails the test if that takes longer than Patience. what describes the condition.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(Patience)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("after %v still not: %s", Patience, what)
		case <-time.After(5 * time.Millisecond): // a sale in flight is soon over
		}
	}
}

// Together runs a subtest for each name, all at the same time, however few cores there are. It is for tests that wait more than they work.
func Together(t *testing.T, names []string, test func(t *testing.T, name string)) {
	t.Helper()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { t.Run(name, func(t *testing.T) { test(t, name) }) })
	}
	all.Wait()
}
