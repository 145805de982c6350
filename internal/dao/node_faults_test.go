package dao_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/service"
)

// Each fault of an embedded node sets its state, and only the fault empty deletes its keys.
func TestNodeFaultsChangeStateOfNode(t *testing.T) {
	server, err := dao.Open(t.Context(), dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	node := server.Nodes[1]
	fault := func(what string, state dao.NodeState) {
		t.Helper()
		if err := node.Fault(what); err != nil || node.State() != state {
			t.Fatalf("%s: it is %s, %v; want %s", what, node.State(), err, state)
		}
	}
	holds := func(want int64) {
		t.Helper()
		if n, err := node.Exists(t.Context(), "key").Result(); n != want || err != nil {
			t.Errorf("it holds %d keys, %v; want %d", n, err, want)
		}
	}
	answers := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		return node.Ping(ctx).Err() == nil
	}
	if err := node.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	fault("hang", dao.NodeHung)
	if answers() {
		t.Error("it hangs, and answers")
	}
	key := dao.NewLockKey(server.Lock, server.Nodes, "key")
	if state, err := key.ReadState(t.Context(), service.LockLayout{OnNodes: true}); state.Holder != "" || err != nil {
		t.Errorf("one of five hangs: %+v, %v", state, err)
	}
	fault("resume", dao.NodeUp)
	holds(1)
	fault("stop", dao.NodeStopped)
	if answers() {
		t.Error("it is stopped, and answers")
	}
	fault("start", dao.NodeUp)
	holds(1)
	fault("hang", dao.NodeHung)
	fault("empty", dao.NodeUp)
	holds(0)
	fault("hang", dao.NodeHung) // and is closed so
	if err := node.Fault("jump"); !errors.Is(err, dao.ErrUnknownNodeFault) {
		t.Errorf("jump: %v", err)
	}
}
