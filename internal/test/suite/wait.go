package suite

import (
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits for what must happen, on a busy machine.
const Patience = 30 * time.Second

// Eventually waits until a condition holds.
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

// Together runs a test for each of these at the same time, however few cores there are: they wait more than they work.
func Together(t *testing.T, names []string, test func(t *testing.T, name string)) {
	t.Helper()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { t.Run(name, func(t *testing.T) { test(t, name) }) })
	}
	all.Wait()
}
