package explore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// Of a lock on several nodes, each step says which node its command was for, what is so on each, and which fault it is.
func TestStepsOnNodes(t *testing.T) {
	replayed, err := explore.Replay(find(t, "redlock"), faultsOfTwo("node-restart=1,node-crash=1"),
		"A:waits A.node1:SET A.node2:SET B:waits B.node1:SET/node-restarts B.node2:SET/node-crashes A.node3:SET")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0  A begins, and waits | node 1: no lock, node 2: no lock, node 3: no lock; stock: 100",
		"1  A takes the lock on node 1 | node 1: A, node 2: no lock, node 3: no lock; stock: 100",
		"2  A takes the lock on node 2 | node 1: A, node 2: A, node 3: no lock; stock: 100",
		"0  B begins, and waits | node 1: A, node 2: A, node 3: no lock; stock: 100",
		"1 node-restart node 1 restarts empty; B takes over A's lock on node 1 | node 1: B, node 2: A, node 3: no lock; stock: 100",
		"2 node-crash node 2 goes down; B does not reach node 2 | node 1: B, node 2: down, node 3: no lock; stock: 100",
		"3  A takes the lock on node 3 | node 1: B, node 2: down, node 3: A; stock: 100",
	}
	for i, step := range replayed.Steps {
		if got := fmt.Sprintf("%d %s %s | %s", step.Node, step.Fault, step.Says, step.State(language.English)); got != want[i] {
			t.Errorf("step %d, %s: %q; want %q", i+1, step.Token, got, want[i])
		}
	}
	if replayed.Nodes != 3 {
		t.Errorf("%d nodes; want 3", replayed.Nodes)
	}
}

// A step that uses a fault's budget names the fault, whatever becomes of a command.
func TestStepsNameTheirFault(t *testing.T) {
	for schedule, want := range map[string]string{
		"A:SET expiry B:SET":             "[ expiry ]",
		"A:SET/lost A:compareAndDelete":  "[lost-reply ]",
		"A:SET A:pauses B:SET time":      "[ pause  ]",
		"A:SET/unsynced failover":        "[failover failover]",
		"A:SET/late B:SET A:SET/arrives": "[late  ]",
	} {
		replayed, err := explore.Replay(find(t, "v4"), faultsOfTwo("expiry=1,lost-reply=1,pause=1,failover=1,late=1"), schedule)
		if err != nil {
			t.Errorf("%s: %v", schedule, err)
			continue
		}
		var faults []string
		for _, step := range replayed.Steps {
			faults = append(faults, step.Fault)
		}
		if got := fmt.Sprint(faults); got != want {
			t.Errorf("%s has the faults %s; want %s", schedule, got, want)
		}
	}
}

// What an actor has started is called by what it does, however often it did so before.
func TestStepsOfWhatAnActorHasStarted(t *testing.T) {
	renewed := explore.Scenario{Actors: 1, Work: 25 * time.Second}
	released := faultsOfTwo("")
	for _, test := range []struct {
		lock     string
		scenario explore.Scenario
		schedule string
		says     string // at the end
	}{
		{"v6", renewed, "A:lock A:GET time A.renewal:updateExpireTime time A.renewal:updateExpireTime", "A renews its lock"},
		{
			"redlock", renewed,
			"A:waits A.node1:SET A.node2:SET A.node3:SET A:GET time A.node1:compareAndExtend A.node2:compareAndExtend",
			"A renews its lock on node 2",
		},
		{
			"v11", released, "A:begins A:acquireOrAsk A:readFenced A:write B:begins B:acquireOrAsk A:woken A.hear:release",
			"A gives the lock back",
		},
	} {
		replayed, err := explore.Replay(find(t, test.lock), test.scenario, test.schedule)
		if err != nil {
			t.Errorf("%s: %v", test.lock, err)
			continue
		}
		if last := replayed.Steps[len(replayed.Steps)-1]; last.Says != test.says || last.Actor != "A" || last.Task == "" {
			t.Errorf("%s: %s of %s: %s; want %s", test.lock, last.Task, last.Actor, last.Says, test.says)
		}
	}
}

// Goroutines of one name are told apart while both are at work.
func TestStepsOfTwoOfOneName(t *testing.T) {
	mine := locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		startWatch(ctx, c, opts)
		startWatch(ctx, c, opts)
		return nothingHeld(ctx, opts)
	})
	const schedule = "A:begins A.look:EXISTS A.look-2:EXISTS A.look-2:TTL A.look:TTL"
	if _, err := explore.Replay(mine, explore.Scenario{Actors: 1}, schedule); err != nil {
		t.Error(err)
	}
}

func startWatch(ctx context.Context, c redis.Cmdable, opts lock.Options) {
	opts.Clock.Go("look", func() {
		c.Exists(ctx, opts.Key)
		c.TTL(ctx, opts.Key)
	})
}
