package lab_test

import (
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/stage/lab"
)

// stillBroken names, for each phrase that a strategy says is still broken, in order, the labs whose cell shows it. A phrase without a lab
// says in brackets why.
var stillBroken = map[string]string{
	"v0":           "lost-update",
	"v1":           "holder-dies",
	"v2":           "foreign-delete",
	"v3":           "check-then-delete",
	"v4":           "self-deadlock",
	"v5":           "overdue-work",
	"v6":           "paused-writer; polling-storm starvation-replicas; failover",
	"v7":           "polling-storm starvation-replicas; failover",
	"v8":           "polling-storm starvation-replicas; failover",
	"v9":           "failover; (what a lock costs is no anomaly)",
	"v10":          "failover; (the others wait for one expiry and a quarter, and not for ever: holder-dies)",
	"redlock":      "paused-writer starvation-replicas; empty-restarted-node; redis-clock",
	"local":        "lost-update-replicas",
	"atomic":       "(that is a limit of what can be sold so); (the sale says that its outcome is unknown, and that is right)",
	"optimistic":   "(what a lock costs is no anomaly); (it has no lock to wait for: nobody is seen to be overtaken)",
	"late-commit":  "commit-after-unlock",
	"setnx-expire": "dies-between-set-and-expire",
	"lua-setnx":    "foreign-delete",
	"getset":       "clock-skew; foreign-delete",
	"set-expire":   "overdue-work",
	"setex":        "overdue-work",
}

// Whatever a strategy says is still broken has a cell that is expected to be broken, with the command that shows it.
func TestWhatIsStillBrokenHasACell(t *testing.T) {
	m := lab.Expected(language.English)
	for _, s := range evolution.Table() {
		phrases, shown := strings.Split(s.StillBroken, "; "), strings.Split(stillBroken[s.Name], "; ")
		if len(phrases) != len(shown) {
			t.Errorf("%s says %q, which is shown by %q", s.Name, phrases, shown)
			continue
		}
		for i, labs := range shown {
			if labs == "" {
				t.Errorf("%s: nothing shows %q", s.Name, phrases[i])
			}
			if strings.HasPrefix(labs, "(") {
				continue
			}
			for name := range strings.FieldsSeq(labs) {
				if c := m.Cells[name][s.Name]; c.Expected != lab.Broken || !strings.Contains(c.How, s.Name) {
					t.Errorf("%s, %q: the cell of %s is %+v; want broken, and how it is seen", s.Name, phrases[i], name, c)
				}
			}
		}
	}
}
