package explore_test

import (
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/explore"
)

// Tests that explore do not run in parallel: an exploration has work for every core, and inspects the stacks of all goroutines, including
// those of waiting tests.
func TestMain(m *testing.M) {
	defer explore.ReduceGC(explore.Bounds{})()
	goleak.VerifyTestMain(m)
}
