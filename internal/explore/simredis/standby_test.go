package simredis

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
)

// A replica that lags holds what its master held, for which time passes. When it takes the master's place, a durable key stays as it is.
func TestAReplicaThatLags(t *testing.T) {
	m := newSimulator(t)
	c := m.NewCluster(stateWithStock(t, m, "5"), 0)
	s := c.Servers()[0]
	stock := func(s *State) string {
		k, _ := s.Key("inventory")
		return k.FirstValue()
	}
	do := func(command ...string) {
		t.Helper()
		answer, err := c.Evaluate(s, 0, c.Command([]byte(proto.Strings(command...))))
		if err != nil {
			t.Fatal(err)
		}
		c.SetState(s, answer.NewState)
	}
	do("SET", "a lock", "A", "PX", "1000")
	c.StopReplication(s)
	if c.LaggingServer() != s || c.WouldLose(s) {
		t.Error("there is nothing to lose yet")
	}
	do("DECR", "inventory")
	if c.WouldLose(s) {
		t.Error("the stock alone has changed, and is kept")
	}
	do("DEL", "a lock")
	do("SET", "another", "B")
	if err := c.AgeStandby(s, 400*time.Millisecond); err != nil || !c.WouldLose(s) {
		t.Errorf("%v; want a change that is lost", err)
	}
	then := c.Promote(s)
	if key, has := then.Key("a lock"); !has || key.TTL != 600*time.Millisecond || len(then.Keys) != 2 || stock(then) != "4" {
		t.Errorf("it holds %+v; want A's lock, for 600 ms, and a stock of 4", then.Keys)
	}
	if c.SetState(s, then); c.LaggingServer() != nil || c.WouldLose(s) {
		t.Error("it still lags")
	}
	c.TakeSnapshot(s)
	do("DECR", "inventory")
	if !c.WouldLose(s) {
		t.Error("a snapshot has the stock of before")
	}
	if then = c.Promote(s); stock(then) != "4" || s.StandbyIsSnapshot {
		t.Errorf("with its snapshot it holds %+v; want a stock of 4", then.Keys)
	}
	if then = c.StateWithout(s, "a lock"); len(then.Keys) != 1 {
		t.Errorf("without the lock it holds %+v", then.Keys)
	}
}
