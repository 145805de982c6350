package simredis

import (
	"strings"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// A server knows the orders of its ledger: what writes one again changes nothing, and is no news. A snapshot does not know those that came
// after it.
func TestAnOrderIsWrittenOnce(t *testing.T) {
	m := memory(t)
	c := client(t, m)
	cluster := m.NewCluster(m.WithStock(5), 0)
	s := cluster.Servers()[0]
	network := &direct{cluster: cluster}
	c.Attach(network)
	store := dao.NewStore(c.Client, "A", 1000)
	cluster.Save(s)
	order := func(id string) history.Order {
		return history.Order{ID: id, RunID: "a run", Owner: id, Before: 4, After: 3}
	}
	for _, step := range []struct {
		id    string
		write bool
		stock string
		news  int
	}{{"A", false, "4", 1}, {"A", false, "4", 0}, {"A", true, "4", 0}, {"B", true, "3", 1}, {"B", true, "3", 0}, {"B", false, "3", 0}} {
		network.booked = nil
		var err error
		if step.write {
			_, err = store.Write(t.Context(), order(step.id))
		} else {
			_, err = store.Take(t.Context(), order(step.id), false)
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.Holds.Stock() != step.stock || len(network.booked) != step.news || !s.Holds.HasOrder(step.id) {
			t.Errorf("%+v: the stock is %s, news are %v", step, s.Holds.Stock(), network.booked)
		}
	}
	newest, _ := dao.OrdersKeys("a run")
	network.booked = nil
	if c.Client.HSet(t.Context(), newest, "A", `{"id":"A"}`); len(network.booked) != 1 || network.booked[0].ID != "A" {
		t.Errorf("an order that is written over is no news: %v", network.booked)
	}
	if names := s.Holds.Text; !strings.Contains(names, "distributedLock:A\ndistributedLock:B\n") {
		t.Errorf("states differ by what is in the ledger, and not by %q", names)
	}
	if earlier := cluster.Promote(s); earlier.HasOrder("A") || earlier.Stock() != "5" {
		t.Errorf("the snapshot has an order of later, or the stock %s", earlier.Stock())
	}
}

// A replica that takes its master's place has the ledger, as it has the stock.
func TestAPromotedReplicaHasTheLedger(t *testing.T) {
	m := memory(t)
	cluster := m.NewCluster(m.intern(m.WithStock(5).Keys, []string{"A"}, nil), 0)
	s := cluster.Servers()[0]
	cluster.Lag(s)
	if !cluster.Promote(s).HasOrder("A") || !cluster.Without(s, "a lock").HasOrder("A") {
		t.Error("it has no ledger")
	}
}
