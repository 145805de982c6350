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

// An order that was read is known from then on, to the scripts as to the explorer: what writes it again changes nothing, and is no news.
func TestAnOrderIsReadOnce(t *testing.T) {
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
	holds := h.start
	for i, step := range []struct {
		id, script, writes string
		stock              string
		news               int
	}{
		{"A", lua.Take, "", "99", 1},
		{"A", lua.Take, "", "99", 0},
		{"A", lua.Write, "98", "99", 0},
		{"B", lua.Write, "98", "98", 1},
		{"B", lua.Write, "98", "98", 0},
		{"B", lua.Take, "", "98", 0},
		{"B", lua.Sell, "", "97", 1},
		{"B", "redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])", "", "97", 1},
	} {
		line, err := json.Marshal(history.Order{ID: step.id})
		if err != nil {
			t.Fatal(err)
		}
		command := []string{"EVAL", step.script, "4", dao.InventoryKey, dao.RunKey, newest, older}
		if step.writes != "" {
			command = append(slices.Replace(command, 2, 3, "5"), "{inventory}:fence", step.writes, "0")
		}
		next, err := h.memory.StateAfter(holds, append(command, runID, step.id, string(line), "0", "1000"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := h.readLedger(next)
		if err != nil {
			t.Fatal(err)
		}
		again, err := h.readLedger(l.rest)
		if err != nil || len(again.news) > 0 || again.rest != l.rest {
			t.Errorf("step %d: what was read is news: %v, %v", i+1, again.news, err)
		}
		if len(l.news) != step.news || step.news > 0 && l.news[0].ID != step.id {
			t.Errorf("step %d: the news are %+v; want %d", i+1, l.news, step.news)
		}
		if step.news == 0 && !l.rest.SameKeys(holds) || !hasOrder(l.rest, step.id) || stockOf(l.rest, 0) != step.stock {
			t.Errorf("step %d: it holds %+v; want the order, and a stock of %s", i+1, l.rest.Keys, step.stock)
		}
		holds = l.rest
	}
}
