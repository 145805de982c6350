package locktest_test

import (
	"slices"
	"testing"

	"lockstep/locktest"
)

// The anomalies and their descriptions equal those of the catalogue, in the order in which a search reports them.
func TestAnomaliesEqualCatalogue(t *testing.T) {
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
