package anomaly_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/language"
)

// Each anomaly has one row, with a title in each language, that names who shows it. Anomalies of the explorer have all texts, and those of
// locktest their description there.
func TestCatalogueIsComplete(t *testing.T) {
	known := []string{"explorer", "witness", "locktest", "redistest", "exercise", "lesson", "benchmark"}
	var explored []anomaly.Anomaly
	ids := map[anomaly.Anomaly]bool{}
	for _, row := range anomaly.Catalogue() {
		by := strings.Fields(row.Parts)
		if ids[row.ID] || row.ID.Row() != row || len(by) == 0 {
			t.Errorf("%q: %+v; want one row, and who shows it", row.ID, row)
		}
		ids[row.ID] = true
		for _, who := range by {
			if !slices.Contains(known, who) {
				t.Errorf("%s is shown by %q; want some of %v", row.ID, who, known)
			}
		}
		if shown := slices.Contains(by, "locktest"); shown != (row.InTest != "") {
			t.Errorf("%s is shown by locktest: %t; what it is there: %q", row.ID, shown, row.InTest)
		}
		texts := []language.Text{row.Title}
		if slices.Contains(by, "explorer") {
			explored = append(explored, row.ID)
			texts = append(texts, row.Says, row.Task)
		}
		for _, text := range texts {
			if text.In(language.English) == "" || text.In(language.Chinese) == "" {
				t.Errorf("%s lacks a text: %+v", row.ID, row)
			}
		}
	}
	if !slices.Equal(explored, anomaly.All()) {
		t.Errorf("the explorer shows %v; want %v", explored, anomaly.All())
	}
}
