package chaos

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestPlansAreOfTheirSeed(t *testing.T) {
	plan := NewPlan(7, 10*time.Minute, Kinds())
	if !reflect.DeepEqual(plan, NewPlan(7, 10*time.Minute, Kinds())) {
		t.Error("the same seed makes two plans")
	}
	if reflect.DeepEqual(plan, NewPlan(8, 10*time.Minute, Kinds())) {
		t.Error("another seed makes the same plan")
	}
}

func TestPlansUseTheirTimeAndEveryKind(t *testing.T) {
	for seed := range uint64(50) {
		plan, total := NewPlan(seed, 10*time.Minute, Kinds()), warmUp+quiet
		for i, fault := range plan {
			total += fault.For + rest
			if round := plan[i/len(Kinds())*len(Kinds()) : i]; slices.ContainsFunc(round, func(f Fault) bool { return f.Kind == fault.Kind }) {
				t.Fatalf("seed %d: %s comes again before every other kind came", seed, fault.Kind)
			}
			if !slices.Contains(durations(fault.Kind), fault.For) || fault.Replica < 0 || fault.Replica >= replicas {
				t.Errorf("seed %d: %+v", seed, fault)
			}
		}
		if total > 10*time.Minute || total < 10*time.Minute-2*rest-heartbeat {
			t.Errorf("seed %d: the plan takes %v of 10m", seed, total)
		}
		if one := NewPlan(seed, time.Second, Kinds()); len(one) != 1 {
			t.Errorf("seed %d: %d faults in a second; want one, whatever it takes", seed, len(one))
		}
	}
}

func TestParseKinds(t *testing.T) {
	if all, err := ParseKinds(""); err != nil || !slices.Equal(all, Kinds()) {
		t.Errorf("%v, %v; want all", all, err)
	}
	if some, err := ParseKinds("oom,flushall"); err != nil || !slices.Equal(some, []Kind{OutOfMemory, Flush}) {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := ParseKinds("oom,typo"); err == nil || err.Error() !=
		`there is no fault "typo": want some of [kill-replica stop-replica hang-redis pause-redis empty-redis oom flushall `+
			`delete-lock cut-clients new-run]` {
		t.Errorf("%v", err)
	}
}

func TestCheckLock(t *testing.T) {
	if err := CheckLock("v8"); err != nil {
		t.Error(err)
	}
	if err := CheckLock("v1"); err == nil || err.Error() != `chaos is not for the lock "v1": want one of v10, v4, v5, v6, v7, v8, v9` {
		t.Errorf("%v", err)
	}
}
