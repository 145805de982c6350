package lab_test

import (
	"cmp"
	"strings"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// shownBy names the labs that show a flaw, if it is not the lab of the same name. A flaw that no lab shows has the reason in brackets.
var shownBy = map[string]string{
	"polling":             "polling-storm starvation-replicas",
	"no-fence":            "paused-writer",
	"no-order":            "starvation-replicas",
	"clocks":              "redis-clock",
	"no-owner":            "foreign-delete",
	"no-exclusion":        "overdue-work",
	"paused-holder":       "(the store refuses the stale one, so nothing is lost: paused-writer)",
	"own-commands":        "(what a lock costs is no anomaly)",
	"round-trips":         "(what a lock costs is no anomaly)",
	"retries":             "(what a lock costs is no anomaly)",
	"keeper-dies":         "(the others wait for one expiry and a quarter, and not forever: holder-dies)",
	"one-script":          "(that is a limit of what can be sold so)",
	"older-servers":       "(it is not sold on them: no_command)",
	"optimistic/no-order": "(it has no lock to wait for: nobody is seen to be overtaken)",
}

// Every flaw that a strategy lists as still broken has a cell that is expected to be broken, with the command that shows it.
func TestRemainingFlawsHaveCells(t *testing.T) {
	m := lab.ExpectedMatrix(language.English)
	for _, s := range evolution.Table() {
		for _, flaw := range s.StillBroken {
			labs := cmp.Or(shownBy[s.Name+"/"+flaw.ID], shownBy[flaw.ID], flaw.ID)
			if strings.HasPrefix(labs, "(") {
				continue
			}
			for name := range strings.FieldsSeq(labs) {
				if c := m.Cells[name][s.Name]; c.Expected != verdict.Broken || !strings.Contains(c.How, s.Name) {
					t.Errorf("%s, %s: the cell of %s is %+v; want broken, and how it is seen", s.Name, flaw.ID, name, c)
				}
			}
		}
	}
}
