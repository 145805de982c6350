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
	"lockstep/internal/lock/rediserr"
)

// For a lock on several nodes, each step has the node of its command, the fault, and the state of every node.
func TestStepsDescribeEachNode(t *testing.T) {
	replayed, err := explore.Replay(findStrategy(t, "redlock"), twoActors("node-restart=1,node-crash=1"),
		"A:waits A.node1:SET A.node2:SET B:waits B.node1:SET/node-restarts B.node2:SET/node-crashes A.node3:SET")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0  A begins, and waits | node 1: no lock, node 2: no lock, node 3: no lock; stock: 100",
		"1  A takes the lock on node 1 | node 1: A, node 2: no lock, node 3: no lock; stock: 100",
		"2  A takes the lock on node 2 | node 1: A, node 2: A, node 3: no lock; stock: 100",
		"0  B begins, and waits | node 1: A, node 2: A, node 3: no lock; stock: 100",
		"1 node-restart node 1 restarts empty; B takes the lock on node 1 | node 1: B, node 2: A, node 3: no lock; stock: 100",
		"2 node-crash node 2 goes down; B does not reach node 2 | node 1: B, node 2: down, node 3: no lock; stock: 100",
		"3  A takes the lock on node 3 | node 1: B, node 2: down, node 3: A; stock: 100",
	}
	for i, step := range replayed.Steps {
		if got := fmt.Sprintf("%d %s %s | %s", step.Node, step.Fault, step.Says, step.State(language.English)); got != want[i] {
			t.Errorf("step %d, %s: got %q; want %q", i+1, step.Token, got, want[i])
		}
	}
	if replayed.Nodes != 3 {
		t.Errorf("got %d nodes; want 3", replayed.Nodes)
	}
}

// Every step that uses up the budget of a fault names that fault.
func TestStepsNameTheirFault(t *testing.T) {
	for schedule, want := range map[string]string{
		"A:SET expiry B:SET":             "[ expiry ]",
		"A:SET/lost A:compareAndDelete":  "[lost-reply ]",
		"A:SET A:pauses B:SET time":      "[ pause  ]",
		"A:SET/unsynced failover":        "[failover failover]",
		"A:SET/late B:SET A:SET/arrives": "[late  ]",
	} {
		t.Run(schedule, func(t *testing.T) {
			replayed, err := explore.Replay(findStrategy(t, "v4"), twoActors("expiry=1,lost-reply=1,pause=1,failover=1,late=1"), schedule)
			if err != nil {
				t.Fatal(err)
			}
			var faults []string
			for _, step := range replayed.Steps {
				faults = append(faults, step.Fault)
			}
			if got := fmt.Sprint(faults); got != want {
				t.Errorf("got the faults %s; want %s", got, want)
			}
		})
	}
}

// A goroutine that an actor has started keeps its name, however often the actor has started one before.
func TestStepsNameBackgroundTasks(t *testing.T) {
	renewed := explore.Scenario{Actors: 1, Work: 25 * time.Second}
	released := twoActors("")
	for _, test := range []struct {
		lock     string
		scenario explore.Scenario
		schedule string
		wantLast string // sentence of the last step
	}{
		{
			lock: "v6", scenario: renewed, schedule: "A:lock A:GET time A.renewal:updateExpireTime time A.renewal:updateExpireTime",
			wantLast: "A renews its lock",
		},
		{
			lock: "redlock", scenario: renewed,
			schedule: "A:waits A.node1:SET A.node2:SET A.node3:SET A:GET time A.node1:compareAndExtend A.node2:compareAndExtend",
			wantLast: "A renews its lock on node 2",
		},
		{
			lock: "v11", scenario: released,
			schedule: "A:begins A:acquireOrAsk A:readFenced A:write B:begins B:acquireOrAsk A:woken A.hear:release",
			wantLast: "A gives the lock back",
		},
	} {
		t.Run(test.lock, func(t *testing.T) {
			replayed, err := explore.Replay(findStrategy(t, test.lock), test.scenario, test.schedule)
			if err != nil {
				t.Fatal(err)
			}
			if last := replayed.Steps[len(replayed.Steps)-1]; last.Says != test.wantLast || last.Actor != "A" || last.Task == "" {
				t.Errorf("got task %q of %s: %q; want a task of A: %q", last.Task, last.Actor, last.Says, test.wantLast)
			}
		})
	}
}

// Two running goroutines of the same name have different names in a schedule.
func TestTasksOfSameNameAreNumbered(t *testing.T) {
	s := locker(func(ctx context.Context, c redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		startLook(ctx, c, opts)
		startLook(ctx, c, opts)
		return nothingHeld(ctx, opts)
	})
	const schedule = "A:begins A.look:EXISTS A.look-2:EXISTS A.look-2:TTL A.look:TTL"
	if _, err := explore.Replay(s, explore.Scenario{Actors: 1}, schedule); err != nil {
		t.Error(err)
	}
}

// startLook starts a goroutine that reads the lock's key twice.
func startLook(ctx context.Context, c redis.Cmdable, opts lock.Options) {
	opts.Clock.Go("look", func() {
		c.Exists(ctx, opts.Key)
		c.TTL(ctx, opts.Key)
	})
}

// An EXEC that Redis refuses, because a watched key has changed, writes nothing, and the step says so.
func TestRefusedTransactionIsNotDescribedAsWrite(t *testing.T) {
	for in, want := range map[language.Language]string{
		language.English: "A is refused: the stock has changed", language.Chinese: "A 被拒绝：库存已经变了",
	} {
		t.Run(string(in), func(t *testing.T) {
			scenario := twoActors("")
			scenario.Language = in
			replayed, err := explore.Replay(findStrategy(t, "optimistic"), scenario, "A:WATCH A:GET B:WATCH B:GET B:MULTI A:MULTI")
			if err != nil {
				t.Fatal(err)
			}
			if got := replayed.Steps[5].Says; got != want {
				t.Errorf("got %q; want %q", got, want)
			}
		})
	}
}

// A command that Redis answers with an error is told as one that fails, and so is the sale: nothing was read.
func TestStepsTellOfFailedScript(t *testing.T) {
	failing := locker(func(ctx context.Context, client redis.Cmdable, opts lock.Options, _ string) (*lock.Lease, error) {
		if err := client.Eval(ctx, "return nothing.here", []string{opts.Key}).Err(); err != nil {
			return nil, rediserr.Classify(ctx, "EVAL", err)
		}
		return nothingHeld(ctx, opts)
	})
	for in, want := range map[language.Language]string{
		language.English: "A's command fails; A fails: a script failed in redis, perhaps after a part of it: the outcome is unknown",
		language.Chinese: "A 的命令执行失败；A 失败：脚本在 Redis 里执行失败，可能已执行一部分，结果未知",
	} {
		replayed, err := explore.Replay(failing, explore.Scenario{Actors: 1, Language: in}, "A:script")
		if err != nil {
			t.Fatal(err)
		}
		if got := replayed.Steps[0].Says; got != want {
			t.Errorf("%s: got %q; want %q", in, got, want)
		}
	}
}
