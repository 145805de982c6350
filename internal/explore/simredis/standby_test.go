package simredis

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
)

// A lagging replica keeps and ages what its master held. After its promotion, durable keys are still the master's.
func TestPromotedReplicaLosesTransientChanges(t *testing.T) {
	sim := newSimulator(t)
	c := sim.NewCluster(stateWithStock(t, sim, "5"), 0)
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
		t.Error("WouldLose before any change; want a lagging replica that loses nothing")
	}
	do("DECR", "inventory")
	if c.WouldLose(s) {
		t.Error("WouldLose although only the stock has changed; want false: the stock is durable")
	}
	do("DEL", "a lock")
	do("SET", "another", "B")
	if err := c.AgeStandby(s, 400*time.Millisecond); err != nil || !c.WouldLose(s) {
		t.Errorf("AgeStandby: %v; want none, and a change that would be lost", err)
	}
	promoted := c.Promote(s)
	if key, has := promoted.Key("a lock"); !has || key.TTL != 600*time.Millisecond || len(promoted.Keys) != 2 || stock(promoted) != "4" {
		t.Errorf("the promoted server holds %+v; want A's lock, for 600 ms, and a stock of 4", promoted.Keys)
	}
	if c.SetState(s, promoted); c.LaggingServer() != nil || c.WouldLose(s) {
		t.Error("the promoted server still lags")
	}
	c.TakeSnapshot(s)
	do("DECR", "inventory")
	if !c.WouldLose(s) {
		t.Error("WouldLose = false; want true: the snapshot has the old stock")
	}
	if promoted = c.Promote(s); stock(promoted) != "4" || s.StandbyIsSnapshot {
		t.Errorf("after the rollback the server holds %+v; want a stock of 4", promoted.Keys)
	}
	if promoted = c.StateWithout(s, "a lock"); len(promoted.Keys) != 1 {
		t.Errorf("without the lock the server holds %+v; want one key", promoted.Keys)
	}
}
