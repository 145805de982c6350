package redistest_test

import (
	"slices"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/redistest"
)

// The catalogue has each anomaly, except for the two that are rules of the test itself.
func TestAnomaliesEqualCatalogue(t *testing.T) {
	all := []redistest.Anomaly{redistest.CheckFails, redistest.AlwaysFails}
	for _, a := range anomaly.ShownBy("redistest") {
		all = append(all, redistest.Anomaly(a))
	}
	if !slices.Equal(redistest.Anomalies(), all) {
		t.Errorf("Anomalies() = %v; want %v", redistest.Anomalies(), all)
	}
}
