package variants_test

import (
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/explore"
)

func TestMain(m *testing.M) {
	defer explore.CollectRarely(explore.Bounds{})()
	goleak.VerifyTestMain(m)
}
