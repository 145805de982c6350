//go:build long && unix

package soak_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/internal/soak"
	"lockstep/internal/test/suite"
)

var (
	lasts  = flag.Duration("soak.for", 40*time.Second, "how long, for each lock")
	seed   = flag.Uint64("soak.seed", 0, "seed of the plan; 0: a new one")
	locks  = flag.String("soak.locks", "v10,v11", "the locks, one after the other: some of v4 to v11")
	faults = flag.String("soak.faults", "", "the faults; none: all there are, also those that the command has only by name")
)

// Real processes, a real Redis, one fault after the other, also those that destroy ledgers: what every buyer was told is what the ledgers
// say, no run writes into another, and soon after each fault buyers are sold to again. In long:
//
//	go test -tags long ./internal/soak -run TestSoak -v -timeout 60m -soak.for 10m -soak.locks v4,v6,v7,v10,v11
func TestSoak(t *testing.T) {
	suite.Needs(t, "redis-server")
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	kinds := soak.Kinds()
	if *faults != "" {
		var err error
		if kinds, err = soak.ParseKinds(*faults); err != nil {
			t.Fatal("-soak.faults: ", err)
		}
	}
	program := filepath.Join(t.TempDir(), "lockstep")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "lockstep").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	const replicas = 3
	plan := soak.NewPlan(*seed, *lasts, kinds, replicas)
	for lock := range strings.SplitSeq(*locks, ",") {
		t.Run(lock, func(t *testing.T) {
			record, err := soak.Session{
				Program: program, Lock: lock, Replicas: replicas, Buyers: 50, Plan: plan, Log: t.Logf,
			}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			result := soak.Examine(record)
			result.Command = fmt.Sprintf("go test -tags long ./internal/soak -run TestSoak -v"+
				" -soak.for %v -soak.locks %s -soak.faults %q -soak.seed %d", *lasts, lock, *faults, *seed)
			t.Log(result.Text())
			// a busy machine may sell little, or miss a fault or two; no rule may be broken, and all others be known
			for _, rule := range result.Rules {
				timed := strings.HasPrefix(rule.Rule, "sales go on") || strings.HasPrefix(rule.Rule, "every fault hit")
				if rule.Broken > 0 || rule.Unchecked > 0 && (!timed || rule.Unchecked > len(plan)/2) {
					t.Errorf("%+v; the shop said, at last:\n%s", rule, record.ReplicaOutput)
				}
			}
		})
	}
}
