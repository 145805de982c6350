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
	lasts  = flag.Duration("soak.for", 40*time.Second, "duration for each lock")
	seed   = flag.Uint64("soak.seed", 0, "seed of the plan; 0: random")
	locks  = flag.String("soak.locks", "v10,v11", "comma-separated list of locks, from v4 to v11")
	faults = flag.String("soak.faults", "", "comma-separated list of faults; empty: all, also those only by name")
)

// TestSoakBreaksNoRule runs real processes on a real Redis under all faults, one after the other. A longer soak:
//
//	go test -tags long ./internal/soak -run TestSoakBreaksNoRule -v -timeout 60m -soak.for 10m -soak.locks v4,v6,v7,v10,v11
func TestSoakBreaksNoRule(t *testing.T) {
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
			result.Command = fmt.Sprintf("go test -tags long ./internal/soak -run TestSoakBreaksNoRule -v"+
				" -soak.for %v -soak.locks %s -soak.faults %q -soak.seed %d", *lasts, lock, *faults, *seed)
			t.Log(result.Text())
			// on a busy machine sales may be few, or a fault may hit nothing: only the rules about that may stay unchecked
			for _, rule := range result.Rules {
				timed := strings.HasPrefix(rule.Rule, "sales resumed") || strings.HasPrefix(rule.Rule, "each fault hit")
				if rule.Broken > 0 || rule.Unchecked > 0 && (!timed || rule.Unchecked > len(plan)/2) {
					t.Errorf("got %+v, want the rule to hold; last output of the replicas:\n%s", rule, record.ReplicaOutput)
				}
			}
		})
	}
}
