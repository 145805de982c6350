package lab_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore/seat"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// notExplored are the labs of which explore --all shows nothing, and why.
var notExplored = map[string]string{
	"redis-clock":    "it breaks every lock that expires",
	"failover":       "it breaks every lock on one Redis",
	"older-snapshot": "it breaks every lock on one Redis",
	"eviction":       "it breaks every lock that expires",
	"slow-node":      "a Redis that hangs makes every sale on one Redis wait",
	"scheduled-job":  "the explorer runs sales",
	"stampede":       "the explorer runs sales",
	"polling-storm":  "that is what a lock costs",
	"starvation":     "starved is looked for by name", "starvation-replicas": "starved is looked for by name",
}

// anomaliesOf returns those that a lab shows, as the catalogue says.
func anomaliesOf(name string) (all []string) {
	for _, row := range anomaly.Catalogue() {
		if slices.Contains(strings.Fields(row.Labs), name) {
			all = append(all, string(row.ID))
		}
	}
	return all
}

// Each lab is one of the catalogue, and each flaw of a strategy, by the name of its lab or its own. The catalogue names no others.
func TestCatalogueNamesEveryLabAndFlaw(t *testing.T) {
	labs, flaws := map[string]bool{}, map[string]bool{}
	for _, row := range anomaly.Catalogue() {
		for name := range strings.FieldsSeq(row.Labs) {
			labs[name] = true
		}
		for id := range strings.FieldsSeq(row.Flaws) {
			flaws[id] = true
		}
	}
	for _, l := range lab.All() {
		if !labs[l.Name] || l.Anomaly != "" && !slices.Contains(anomaliesOf(l.Name), string(l.Anomaly)) {
			t.Errorf("%s, which looks for %q, shows %v", l.Name, l.Anomaly, anomaliesOf(l.Name))
		}
	}
	admitted := map[string]bool{}
	for _, s := range evolution.Table() {
		for _, flaw := range s.StillBroken {
			admitted[flaw.ID] = true
			if labs[flaw.ID] == flaws[flaw.ID] {
				t.Errorf("%s, %s: a lab has its name: %t, and so has a flaw of the catalogue: %t", s.Name, flaw.ID, labs[flaw.ID], flaws[flaw.ID])
			}
		}
	}
	for _, l := range lab.All() {
		delete(labs, l.Name)
	}
	for id := range admitted {
		delete(flaws, id)
	}
	if len(labs)+len(flaws) > 0 {
		t.Errorf("there are no labs %v, and no strategy has the flaws %v", labs, flaws)
	}
}

// No lock whose lab shows a flaw never shows it in explore --all.
func TestExplorerConfirmsTheFlawsOfLabs(t *testing.T) {
	text, err := os.ReadFile("../explore/seat/table.json") // explore --all, as the page ships it
	if err != nil {
		t.Fatal(err)
	}
	var table seat.Shipped
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	m := lab.ExpectedMatrix(language.English)
	for _, l := range lab.All() {
		if notExplored[l.Name] != "" {
			continue
		}
		for _, s := range evolution.Table() {
			if m.Cells[l.Name][s.Name].Expected != verdict.Broken {
				continue
			}
			shown, answers := false, ""
			for _, cell := range table.Rows[s.Name].Cells {
				if slices.Contains(anomaliesOf(l.Name), cell.Anomaly) {
					answers += cell.Anomaly + ": " + cell.Says + "; "
					shown = shown || cell.Answer == "broken"
				}
			}
			if !shown {
				t.Errorf("lab %s shows a flaw of %s, and explore --all says %q", l.Name, s.Name, answers)
			}
		}
	}
}
