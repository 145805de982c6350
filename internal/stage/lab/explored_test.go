package lab_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"lockstep/internal/explore/seat"
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/stage/lab"
)

// exploredAs names the anomalies of explore --all that the flaw of a lab is one of. A lab that explore --all has nothing of has the reason
// in brackets. Those of the explorer need no name: their anomaly is the lab's.
var exploredAs = map[string]string{
	"lost-update":                 "lost-update",
	"lost-update-replicas":        "lost-update",
	"holder-dies":                 "left-behind stuck",
	"dies-between-set-and-expire": "left-behind stuck",
	"foreign-delete":              "foreign-release",
	"check-then-delete":           "foreign-release",
	"self-deadlock":               "self-deadlock stuck",
	"overdue-work":                "two-holders lost-update",
	"lost-reply":                  "idle left-behind stuck",
	"renewal-outage":              "untold",
	"paused-writer":               "lost-update",
	"commit-after-unlock":         "lost-update",
	"clock-skew":                  "two-holders",
	"late-command":                "left-behind stuck",
	"partition":                   "lost-update",
	"empty-restarted-node":        "two-holders",
	"redis-gone":                  "left-behind stuck",
	"redis-pause":                 "untold",
	"stopped-process":             "lost-update",
	"resent-command":              "double-sale idle left-behind stuck",
	"job-holder-dies":             "left-behind stuck",
	"job-overruns":                "two-holders",
	"redis-clock":                 "(it breaks every lock that expires)",
	"failover":                    "(it breaks every lock on one Redis)",
	"older-snapshot":              "(it breaks every lock on one Redis)",
	"eviction":                    "(it breaks every lock that expires)",
	"slow-node":                   "(a Redis that hangs makes every sale on one Redis wait)",
	"scheduled-job":               "(the explorer runs sales)",
	"polling-storm":               "(that is what a lock costs)",
	"starvation":                  "(starved is looked for by name)",
	"starvation-replicas":         "(starved is looked for by name)",
}

// No lock whose lab shows a flaw never shows it in explore --all.
func TestTheExplorerShowsWhatTheLabsShow(t *testing.T) {
	text, err := os.ReadFile("../../explore/seat/table.json") // explore --all, as the page ships it
	if err != nil {
		t.Fatal(err)
	}
	var table seat.Shipped
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	m := lab.Expected(language.English)
	for _, l := range lab.All() {
		anomalies := exploredAs[l.Name]
		if anomalies == "" {
			anomalies = string(l.Anomaly)
		}
		if strings.HasPrefix(anomalies, "(") {
			continue
		}
		for _, s := range evolution.Table() {
			if m.Cells[l.Name][s.Name].Expected != verdict.Broken {
				continue
			}
			shown, answers := false, ""
			for _, cell := range table.Rows[s.Name].Cells {
				if strings.Contains(" "+anomalies+" ", " "+cell.Anomaly+" ") {
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
