package matrix_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/stage/lab"
	"lockstep/internal/stage/matrix"
)

const costs = "what a lock costs is no anomaly"

// stillBroken is what README says is still broken, flaw by flaw, and the row whose cell shows it. A flaw without one says why.
var stillBroken = []struct{ lock, flaw, row, why string }{
	{lock: "v0", flaw: "lost-update", row: "lost-update"},
	{lock: "v1", flaw: "holder-dies", row: "holder-dies"},
	{lock: "v2", flaw: "foreign-delete", row: "foreign-delete"},
	{lock: "v3", flaw: "check-then-delete", row: "check-then-delete"},
	{lock: "v4", flaw: "self-deadlock", row: "self-deadlock"},
	{lock: "v5", flaw: "overdue-work", row: "overdue-work"},
	{lock: "v6", flaw: "paused-writer", row: "paused-writer"},
	{lock: "v6", flaw: "polling", row: "polling-storm"},
	{lock: "v6", flaw: "polling", row: "starvation-replicas"},
	{lock: "v6", flaw: "failover", row: "failover"},
	{lock: "v7", flaw: "polling", row: "polling-storm"},
	{lock: "v7", flaw: "polling", row: "starvation-replicas"},
	{lock: "v7", flaw: "failover", row: "failover"},
	{lock: "v8", flaw: "polling", row: "polling-storm"},
	{lock: "v8", flaw: "polling", row: "starvation-replicas"},
	{lock: "v8", flaw: "failover", row: "failover"},
	{lock: "v9", flaw: "failover", row: "failover"},
	{lock: "v9", flaw: "round-trips", why: costs},
	{lock: "v10", flaw: "failover", row: "failover"},
	{
		lock: "v10", flaw: "keeper-dies",
		why: "they wait for one expiry and a quarter, and not for ever: holder-dies",
	},
	{lock: "redlock", flaw: "no-fence", row: "paused-writer"},
	{lock: "redlock", flaw: "no-order", row: "starvation-replicas"},
	{lock: "redlock", flaw: "empty-restarted-node", row: "empty-restarted-node"},
	{lock: "redlock", flaw: "clocks", row: "redis-clock"},
	{lock: "local", flaw: "lost-update-replicas", row: "lost-update-replicas"},
	{lock: "atomic", flaw: "one-script", why: "that is a limit of what can be sold so"},
	{lock: "atomic", flaw: "doubt", why: "the sale says that its outcome is unknown, and that is right"},
	{lock: "optimistic", flaw: "retries", why: costs},
	{lock: "optimistic", flaw: "no-order", why: "it has no lock to wait for: nobody is seen to be overtaken"},
	{lock: "late-commit", flaw: "commit-after-unlock", row: "commit-after-unlock"},
	{lock: "setnx-expire", flaw: "dies-between-set-and-expire", row: "dies-between-set-and-expire"},
	{lock: "lua-setnx", flaw: "foreign-delete", row: "foreign-delete"},
	{lock: "getset", flaw: "clock-skew", row: "clock-skew"},
	{lock: "getset", flaw: "no-owner", row: "foreign-delete"},
	{lock: "set-expire", flaw: "no-exclusion", row: "overdue-work"},
	{lock: "setex", flaw: "no-exclusion", row: "overdue-work"},
}

// Whatever README says is still broken has a cell that is expected to be broken, with the command that shows it.
func TestWhatIsStillBrokenHasACell(t *testing.T) {
	m, flaws := matrix.Expected(), map[string][]string{}
	for _, b := range stillBroken {
		if !slices.Contains(flaws[b.lock], b.flaw) {
			flaws[b.lock] = append(flaws[b.lock], b.flaw)
		}
		if (b.row == "") == (b.why == "") {
			t.Errorf("%s, %s: %q, %q; want a row, or why there is none", b.lock, b.flaw, b.row, b.why)
		}
		if b.row == "" {
			continue
		}
		if c := m.Cells[b.row][b.lock]; c.Expected != lab.Broken || !strings.Contains(c.How, b.lock) {
			t.Errorf("%s, %s: the cell of %s is %+v; want broken, and how it is seen", b.lock, b.flaw, b.row, c)
		}
	}
	for _, s := range evolution.Table() {
		var want []string
		for _, flaw := range s.StillBroken {
			want = append(want, flaw.ID)
		}
		if !slices.Equal(flaws[s.Name], want) {
			t.Errorf("%s: %q has cells; README says %q", s.Name, flaws[s.Name], want)
		}
	}
}
