package explore

import (
	"encoding/json"
	"slices"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/explore/engine"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// readLedger returns each order once: a script that writes a known order again changes nothing, and the order is not new.
func TestLedgerReportsEachOrderOnce(t *testing.T) {
	s, err := evolution.Find("v4")
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHarness(s, Scenario{Actors: 1}, Options{}, engine.NewSeeds())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	newest, older := dao.OrdersKeys(runID)
	state := h.start
	for i, step := range []struct {
		id, script, newStock string
		wantStock            string
		wantOrders           int
	}{
		{id: "A", script: lua.Take, wantStock: "99", wantOrders: 1},
		{id: "A", script: lua.Take, wantStock: "99", wantOrders: 0},
		{id: "A", script: lua.Write, newStock: "98", wantStock: "99", wantOrders: 0},
		{id: "B", script: lua.Write, newStock: "98", wantStock: "98", wantOrders: 1},
		{id: "B", script: lua.Write, newStock: "98", wantStock: "98", wantOrders: 0},
		{id: "B", script: lua.Take, wantStock: "98", wantOrders: 0},
		{id: "B", script: lua.Sell, wantStock: "97", wantOrders: 1},
		{id: "B", script: "redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])", wantStock: "97", wantOrders: 1},
	} {
		line, err := json.Marshal(history.Order{ID: step.id})
		if err != nil {
			t.Fatal(err)
		}
		command := []string{"EVAL", step.script, "4", dao.InventoryKey, dao.RunKey, newest, older}
		if step.newStock != "" {
			command = append(slices.Replace(command, 2, 3, "5"), "{inventory}:fence", step.newStock, "0")
		}
		next, err := h.simulator.StateAfter(state, append(command, runID, step.id, string(line), "0", "1000"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := h.readLedger(next)
		if err != nil {
			t.Fatal(err)
		}
		again, err := h.readLedger(l.reduced)
		if err != nil || len(again.newOrders) > 0 || again.reduced != l.reduced {
			t.Errorf("step %d: reading again gives new orders %v, error %v; want none", i+1, again.newOrders, err)
		}
		if len(l.newOrders) != step.wantOrders || step.wantOrders > 0 && l.newOrders[0].ID != step.id {
			t.Errorf("step %d: got new orders %+v; want %d", i+1, l.newOrders, step.wantOrders)
		}
		if step.wantOrders == 0 && !l.reduced.SameKeys(state) || !hasOrder(l.reduced, step.id) || stockOf(l.reduced, 0) != step.wantStock {
			t.Errorf("step %d: the server holds %+v; want the order, and a stock of %s", i+1, l.reduced.Keys, step.wantStock)
		}
		state = l.reduced
	}
}
