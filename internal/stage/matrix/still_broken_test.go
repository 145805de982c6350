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

// stillBroken is what README says is still broken, phrase by phrase, and the row whose cell shows it. A phrase without one says why.
var stillBroken = []struct{ lock, phrase, row, why string }{
	{lock: "v0", phrase: "lost updates, oversell", row: "lost-update"},
	{lock: "v1", phrase: "a holder that dies blocks everybody for ever", row: "holder-dies"},
	{lock: "v2", phrase: "an overdue holder deletes the next one's lock", row: "foreign-delete"},
	{lock: "v3", phrase: "between the GET and the DEL the lock can change hands", row: "check-then-delete"},
	{lock: "v4", phrase: "a nested call waits for itself for ever", row: "self-deadlock"},
	{lock: "v5", phrase: "work longer than the expiry: two holders", row: "overdue-work"},
	{lock: "v6", phrase: "a paused process writes late", row: "paused-writer"},
	{lock: "v6", phrase: "waiters poll: a storm of commands, and starvation", row: "polling-storm"},
	{lock: "v6", phrase: "waiters poll: a storm of commands, and starvation", row: "starvation-replicas"},
	{lock: "v6", phrase: "failover", row: "failover"},
	{lock: "v7", phrase: "waiters poll: a storm of commands, starvation, no order", row: "polling-storm"},
	{lock: "v7", phrase: "waiters poll: a storm of commands, starvation, no order", row: "starvation-replicas"},
	{lock: "v7", phrase: "failover", row: "failover"},
	{lock: "v8", phrase: "between processes: polling, in no order", row: "polling-storm"},
	{lock: "v8", phrase: "between processes: polling, in no order", row: "starvation-replicas"},
	{lock: "v8", phrase: "failover", row: "failover"},
	{lock: "v9", phrase: "a failover forgets the lock", row: "failover"},
	{lock: "v9", phrase: "a buyer alone pays two round trips for a lock that nobody else wants", why: costs},
	{lock: "v10", phrase: "a failover forgets the lock", row: "failover"},
	{
		lock: "v10", phrase: "the others wait for a keeper that died, as for any holder",
		why: "they wait for one expiry and a quarter, and not for ever: holder-dies",
	},
	{lock: "redlock", phrase: "no fencing, no order between processes", row: "paused-writer"},
	{lock: "redlock", phrase: "no fencing, no order between processes", row: "starvation-replicas"},
	{lock: "redlock", phrase: "a node that restarts empty", row: "empty-restarted-node"},
	{lock: "redlock", phrase: "clocks", row: "redis-clock"},
	{lock: "local", phrase: "right with one replica, wrong with two", row: "lost-update-replicas"},
	{lock: "atomic", phrase: "all work of a sale must fit into the script", why: "that is a limit of what can be sold so"},
	{lock: "atomic", phrase: "after a lost reply the buyer is in doubt", why: "the sale says that its outcome is unknown, and that is right"},
	{lock: "optimistic", phrase: "wasted attempts", why: costs},
	{lock: "optimistic", phrase: "no order, so the slow lose to the quick", why: "it has no lock to wait for: nobody is seen to be overtaken"},
	{lock: "late-commit", phrase: "lost updates, though nothing fails: the next holder reads before the write", row: "commit-after-unlock"},
	{lock: "setnx-expire", phrase: "a holder that dies between the two leaves a lock for ever", row: "dies-between-set-and-expire"},
	{lock: "lua-setnx", phrase: "an overdue holder deletes the next one's lock, as v2's", row: "foreign-delete"},
	{lock: "getset", phrase: "it needs equal clocks", row: "clock-skew"},
	{lock: "getset", phrase: "no owner, so anybody can release", row: "foreign-delete"},
	{lock: "set-expire", phrase: "everybody gets the lock", row: "overdue-work"},
	{lock: "setex", phrase: "everybody gets the lock", row: "overdue-work"},
}

// Whatever README says is still broken has a cell that is expected to be broken, with the command that shows it.
func TestWhatIsStillBrokenHasACell(t *testing.T) {
	m, phrases := matrix.Expected(), map[string][]string{}
	for _, b := range stillBroken {
		if !slices.Contains(phrases[b.lock], b.phrase) {
			phrases[b.lock] = append(phrases[b.lock], b.phrase)
		}
		if (b.row == "") == (b.why == "") {
			t.Errorf("%s, %s: %q, %q; want a row, or why there is none", b.lock, b.phrase, b.row, b.why)
		}
		if b.row == "" {
			continue
		}
		if c := m.Cells[b.row][b.lock]; c.Expected != lab.Broken || !strings.Contains(c.How, b.lock) {
			t.Errorf("%s, %s: the cell of %s is %+v; want broken, and how it is seen", b.lock, b.phrase, b.row, c)
		}
	}
	for _, s := range evolution.Table() {
		if said := strings.Join(phrases[s.Name], "; "); said != s.StillBroken {
			t.Errorf("%s: %q has cells; README says %q", s.Name, said, s.StillBroken)
		}
	}
}
