//go:build long && unix

package chaos_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/internal/chaos"
	"lockstep/internal/redistest"
)

var (
	lasts  = flag.Duration("chaos.for", 40*time.Second, "how long, for each lock")
	seed   = flag.Uint64("chaos.seed", 0, "seed of the plan; 0: a new one")
	locks  = flag.String("chaos.locks", "v9,v10", "the locks, one after the other: some of v4 to v10")
	faults = flag.String("chaos.faults", "", "the faults; none: all there are")
	buyers = flag.Int("chaos.buyers", 50, "how many buy at once")
)

// requestTimeout is longer than a sale waits at the door and for its lock together.
const requestTimeout = 15 * time.Second

// Real processes, a real Redis, one fault after the other: what every buyer was told is what the ledgers say, no run writes into
// another, and soon after each fault buyers are sold to again. In long:
//
//	go test -tags long ./internal/chaos -run TestChaos -v -timeout 60m -chaos.for 10m -chaos.locks v4,v6,v7,v9,v10
func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	kinds, err := chaos.ParseKinds(*faults)
	if err != nil {
		t.Fatal("-chaos.faults: ", err)
	}
	for lock := range strings.SplitSeq(*locks, ",") {
		if err := chaos.CheckLock(lock); err != nil {
			t.Fatal("-chaos.locks: ", err)
		}
	}
	plan := chaos.NewPlan(*seed, *lasts, kinds)
	again := command()
	t.Log("again: " + again)
	dir := t.TempDir()
	program := filepath.Join(dir, "lockstep")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "lockstep").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	for lock := range strings.SplitSeq(*locks, ",") {
		t.Run(lock, func(t *testing.T) { session(t, program, lock, plan, again) })
	}
}

// command is what runs the same again.
func command() string {
	text := fmt.Sprintf("go test -tags long ./internal/chaos -run TestChaos -v -timeout %v", atMost())
	flag.Visit(func(f *flag.Flag) {
		if strings.HasPrefix(f.Name, "chaos.") && f.Name != "chaos.seed" {
			text += fmt.Sprintf(" -%s %s", f.Name, f.Value)
		}
	})
	return fmt.Sprintf("%s -chaos.seed %d", text, *seed)
}

// atMost is longer than all the sessions may take.
func atMost() time.Duration {
	sessions := time.Duration(1 + strings.Count(*locks, ","))
	return 2*sessions**lasts + 10*time.Minute
}

func session(t *testing.T, program, lock string, plan []chaos.Fault, again string) {
	dir := t.TempDir()
	said, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	redis := redistest.Start(t)
	record, err := chaos.Session{
		Program: program, Dir: dir, Said: said, Log: t.Logf, Lock: lock, Plan: plan,
		Redis: redis, Addr: redis.Addr, Buyers: *buyers, Timeout: requestTimeout,
	}.Run(t.Context())
	if err != nil {
		t.Errorf("the session: %v", err)
	}
	t.Logf("%sagain: %s", chaos.Report(record), again)
	if _, verdict := chaos.Judge(record); verdict != chaos.Holds {
		t.Errorf("%s: %s", lock, verdict)
		tail(t, said.Name())
	}
}

// tail shows the last of what the shop said.
func tail(t *testing.T, name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const most = 3000
	t.Logf("the shop said, at last:\n%s", text[max(0, len(text)-most):])
}
