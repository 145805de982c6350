package dao

import (
	"testing"

	"lockstep/internal/test/suite"
)

func TestMain(m *testing.M) {
	suite.Parallel()
	m.Run()
}
