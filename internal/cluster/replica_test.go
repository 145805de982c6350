package cluster

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// behaviorVariable makes this test's program a replica with the behavior that it names.
const behaviorVariable = "REPLICA_BEHAVIOUR"

func TestMain(m *testing.M) {
	switch behavior := os.Getenv(behaviorVariable); behavior {
	case "": // the tests themselves
	case "normal":
		fmt.Println("lockstep: http://127.0.0.1:1 · a replica")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "stubborn":
		fmt.Println("lockstep: http://127.0.0.1:1 · a replica")
		<-time.After(time.Minute)
		os.Exit(0)
	case "short-lived":
		fmt.Println("lockstep: http://127.0.0.1:1 · a replica")
		os.Exit(3)
	case "failing":
		os.Exit(2)
	case "never-ready":
		<-time.After(time.Minute)
		os.Exit(0)
	default:
		panic("unknown behavior " + behavior) // else the replica would run the tests, and start replicas
	}
	goleak.VerifyTestMain(m)
}

// startAs starts two replicas with a behavior.
func startAs(t *testing.T, how string, grace time.Duration) (*Cluster, error) {
	t.Helper()
	return Start(t.Context(), 2, func(string) *exec.Cmd {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), behaviorVariable+"="+how)
		return command
	}, grace, slog.New(slog.DiscardHandler))
}

func TestStopEndsReplicas(t *testing.T) {
	c, err := startAs(t, "normal", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, replica := range c.replicas {
		if replica.state != Up || replica.addr != "127.0.0.1:1" || replica.pid == 0 {
			t.Errorf("%s is %s at %q", replica.Name, replica.state, replica.addr)
		}
	}
	c.Stop()
	for _, replica := range c.replicas {
		if replica.state != Ended || replica.restarts != 0 {
			t.Errorf("%s is %s after %d restarts", replica.Name, replica.state, replica.restarts)
		}
	}
}

func TestStopKillsReplicaAfterGrace(t *testing.T) {
	c, err := startAs(t, "stubborn", 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	c.Stop() // otherwise the test times out
}

// A replica that never reports ready is killed when its context ends.
func TestSilentReplicaIsKilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		_, err := Start(ctx, 1, func(string) *exec.Cmd {
			close(started)
			command := exec.Command(os.Args[0])
			command.Env = append(os.Environ(), behaviorVariable+"=never-ready")
			return command
		}, 50*time.Millisecond, slog.New(slog.DiscardHandler))
		ended <- err
	}()
	<-started
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("Start returns no error")
		}
	case <-time.After(30 * time.Second): // the replica would end by itself after a minute
		t.Fatal("Start does not return")
	}
}

// Stop does not give a hung replica time to end.
func TestStopKillsHungReplicaAtOnce(t *testing.T) {
	c, err := startAs(t, "stubborn", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c.replicas[0].giveUp()
	asked := context.AfterFunc(c.replicas[0].alive, func() { c.replicas[1].giveUp() }) // possibly while Stop waits for it
	defer asked()
	c.Stop() // otherwise the test times out
}

func TestReplicaIsRestartedWithGrowingPause(t *testing.T) {
	c, err := startAs(t, "short-lived", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	deadline := time.After(time.Minute)
	for restarts := 0; restarts < 3; {
		select {
		case <-deadline:
			t.Fatalf("%d restarts in a minute", restarts)
		case <-time.After(5 * time.Millisecond):
		}
		c.replicas[0].mu.Lock()
		restarts = c.replicas[0].restarts
		c.replicas[0].mu.Unlock()
	}
}

func TestStartReturnsExitStatusOfReplica(t *testing.T) {
	_, err := startAs(t, "failing", time.Minute)
	if err == nil || !strings.Contains(err.Error(), "r1 did not start") || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("%v; want that r1 did not start, and its exit status", err)
	}
}
