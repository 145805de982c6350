package variants_test

import (
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/explore"
)

func TestMain(m *testing.M) {
	defer explore.ReduceGC(explore.Bounds{})()
	goleak.VerifyTestMain(m)
}
