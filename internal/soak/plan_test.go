package soak

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNewPlanDependsOnSeed(t *testing.T) {
	plan := NewPlan(7, 10*time.Minute, Kinds(), 3)
	if !reflect.DeepEqual(plan, NewPlan(7, 10*time.Minute, Kinds(), 3)) {
		t.Error("two plans with the same seed differ, want the same plan")
	}
	if reflect.DeepEqual(plan, NewPlan(8, 10*time.Minute, Kinds(), 3)) {
		t.Error("two plans with different seeds are the same, want different ones")
	}
}

func TestNewPlanFillsTimeWithEveryKind(t *testing.T) {
	for seed := range uint64(50) {
		plan, total := NewPlan(seed, 10*time.Minute, Kinds(), 3), warmUp+quietTime
		for i, fault := range plan {
			total += fault.Duration + recoveryTime
			if round := plan[i/len(Kinds())*len(Kinds()) : i]; slices.ContainsFunc(round, func(f Fault) bool { return f.Kind == fault.Kind }) {
				t.Fatalf("seed %d: %s is repeated before every other kind, want each kind once a round", seed, fault.Kind)
			}
			if !slices.Contains(fault.Kind.effect().durations, fault.Duration) || fault.Replica < 0 || fault.Replica >= 3 {
				t.Errorf("seed %d: got %+v, want a duration of its kind and a replica from 0 to 2", seed, fault)
			}
		}
		if total > 10*time.Minute || total < 10*time.Minute-2*recoveryTime-heartbeatExpiry {
			t.Errorf("seed %d: the plan takes %v, want almost 10m", seed, total)
		}
		if one := NewPlan(seed, time.Second, Kinds(), 3); len(one) != 1 {
			t.Errorf("seed %d: %d faults in one second, want 1 although it takes longer", seed, len(one))
		}
	}
}

func TestParseKindsRefusesUnknownFault(t *testing.T) {
	all, err := ParseKinds("")
	if err != nil || !slices.Equal(all, Kinds()[:12]) || all[11] != "restart-redis" {
		t.Errorf("ParseKinds(%q) = %v, %v, want the 12 kinds that lose no order", "", all, err)
	}
	some, err := ParseKinds("oom,flushall")
	if err != nil || !slices.Equal(some, []Kind{"oom", "flushall"}) {
		t.Errorf("ParseKinds(%q) = %v, %v, want these two", "oom,flushall", some, err)
	}
	_, err = ParseKinds("oom,typo")
	if !errors.Is(err, ErrUnknownFault) || !strings.Contains(err.Error(), `"typo"; want some of kill-replica, `) {
		t.Errorf("ParseKinds(%q) fails with %v, want ErrUnknownFault with the kinds there are", "oom,typo", err)
	}
}

func TestCheckLockRefusesUnsupportedLock(t *testing.T) {
	if err := CheckLock("v9"); err != nil {
		t.Errorf("CheckLock(v9) = %v, want no error", err)
	}
	if err := CheckLock("v1"); !errors.Is(err, ErrUnsupportedLock) || !strings.Contains(err.Error(), `"v1"; want one of v4, v5`) {
		t.Errorf("CheckLock(v1) = %v, want ErrUnsupportedLock with the locks there are", err)
	}
}

func TestFaultThatMustLoseUpdateMayLoseIt(t *testing.T) {
	for _, lock := range Locks() {
		for _, kind := range Kinds() {
			for _, d := range kind.effect().durations {
				fault := Fault{Kind: kind, Duration: d}
				if fault.mustLoseUpdate(lock) && (isFenced(lock) || !fault.mayLoseUpdate(lock)) {
					t.Errorf("%s must lose an update through %s for %v, but may not, want that it may", lock, kind, d)
				}
			}
		}
	}
	if !isFenced("v11") || isFenced("v6") || !isRenewed("v6") || isRenewed("v5") {
		t.Error("want locks fenced from v7 on, and renewed from v6 on")
	}
}
