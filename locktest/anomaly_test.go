package locktest_test

import (
	"slices"
	"testing"

	"lockstep/locktest"
)

// The catalogue has each anomaly, in the order in which a search reports them, with what it is here.
func TestAnomaliesAreThoseOfTheCatalogue(t *testing.T) {
	all := []locktest.Anomaly{
		locktest.TwoHolders, locktest.ForeignRelease, locktest.LeftBehind, locktest.Stuck, locktest.Busy, locktest.GoroutineLeak,
		locktest.TokenOrder, locktest.Unattributed,
	}
	if !slices.Equal(locktest.Anomalies(), all) {
		t.Errorf("Anomalies() = %v; want %v", locktest.Anomalies(), all)
	}
	for _, a := range all {
		if a.Says() == "" {
			t.Errorf("%s.Says() is empty", a)
		}
	}
}
