package server_test

import (
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/test/suite"
)

func TestMain(m *testing.M) {
	suite.Clean()
	suite.Parallel()
	goleak.VerifyTestMain(m)
}
