package soak

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPlansAreOfTheirSeed(t *testing.T) {
	plan := NewPlan(7, 10*time.Minute, Kinds(), 3)
	if !reflect.DeepEqual(plan, NewPlan(7, 10*time.Minute, Kinds(), 3)) {
		t.Error("the same seed makes two plans")
	}
	if reflect.DeepEqual(plan, NewPlan(8, 10*time.Minute, Kinds(), 3)) {
		t.Error("another seed makes the same plan")
	}
}

func TestPlansUseTheirTimeAndEveryKind(t *testing.T) {
	for seed := range uint64(50) {
		plan, total := NewPlan(seed, 10*time.Minute, Kinds(), 3), warmUp+quietTime
		for i, fault := range plan {
			total += fault.For + recoveryTime
			if round := plan[i/len(Kinds())*len(Kinds()) : i]; slices.ContainsFunc(round, func(f Fault) bool { return f.Kind == fault.Kind }) {
				t.Fatalf("seed %d: %s comes again before every other kind came", seed, fault.Kind)
			}
			if !slices.Contains(fault.Kind.effect().durations, fault.For) || fault.Replica < 0 || fault.Replica >= 3 {
				t.Errorf("seed %d: %+v", seed, fault)
			}
		}
		if total > 10*time.Minute || total < 10*time.Minute-2*recoveryTime-heartbeatExpiry {
			t.Errorf("seed %d: the plan takes %v of 10m", seed, total)
		}
		if one := NewPlan(seed, time.Second, Kinds(), 3); len(one) != 1 {
			t.Errorf("seed %d: %d faults in a second; want one, whatever it takes", seed, len(one))
		}
	}
}

func TestParseKinds(t *testing.T) {
	if all, err := ParseKinds(""); err != nil || !slices.Equal(all, Kinds()[:12]) || all[11] != "restart-redis" {
		t.Errorf("%v, %v; want those that lose no order", all, err)
	}
	if some, err := ParseKinds("oom,flushall"); err != nil || !slices.Equal(some, []Kind{"oom", "flushall"}) {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := ParseKinds("oom,typo"); !errors.Is(err, ErrUnknownFault) || !strings.Contains(err.Error(), `"typo"; want some of [kill-replica `) {
		t.Errorf("%v", err)
	}
}

func TestCheckLock(t *testing.T) {
	if err := CheckLock("v9"); err != nil {
		t.Error(err)
	}
	if err := CheckLock("v1"); !errors.Is(err, ErrUnsupportedLock) || !strings.Contains(err.Error(), `"v1"; want one of v4, v5`) {
		t.Errorf("%v", err)
	}
}

// A lock that loses by a fault may do so: what must happen is allowed.
func TestWhatIsPredictedIsAllowed(t *testing.T) {
	for _, lock := range Locks() {
		for _, kind := range Kinds() {
			for _, d := range kind.effect().durations {
				fault := Fault{Kind: kind, For: d}
				if fault.mustLoseUpdate(lock) && (isFenced(lock) || !fault.mayLoseUpdate(lock)) {
					t.Errorf("%s must lose an update by %s for %v, and may not", lock, kind, d)
				}
			}
		}
	}
	if !isFenced("v11") || isFenced("v6") || !isRenewed("v6") || isRenewed("v5") {
		t.Error("the locks are not in their order")
	}
}
