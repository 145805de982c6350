package explore_test

import (
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/explore"
)

// No test that explores is parallel: an exploration has work for every core, and looks at the stacks of all goroutines, also of tests that
// wait for their turn.
func TestMain(m *testing.M) {
	defer explore.CollectRarely(explore.Bounds{})()
	goleak.VerifyTestMain(m)
}
