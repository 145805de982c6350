package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/strategy"
)

// compare compares a schedule under two locks, with two actors.
func compare(t *testing.T, first, second, faults, schedule string) (session.Comparison, error) {
	t.Helper()
	return session.Compare(t.Context(), [2]strategy.Strategy{find(t, first), find(t, second)}, with(t, faults, 0), schedule)
}

func TestCompareFindsFirstDifference(t *testing.T) {
	for _, test := range []struct {
		first, second, faults, schedule string
		wantRow                         int // 0: no difference
		wantWhy                         string
	}{
		{
			first: "v1", second: "v2", faults: "crash=1", schedule: "A:SET/dies-after B:SET", wantRow: 1,
			wantWhy: "The state after it: under v1, lock: A; stock: 100; under v2, lock: A, for 10s; stock: 100",
		}, {
			first: "v3", second: "v4", faults: "expiry=1", schedule: "A:SET A:GET A:write A:GET expiry B:SET A:DEL", wantRow: 4,
			wantWhy: "What happens: under v3, A looks at the lock: A has it",
		}, {
			first: "v5", second: "v6", faults: "expiry=1", schedule: "A:lock expiry B:lock", wantRow: 3,
			wantWhy: "A is told that it lost the lock",
		}, {
			first: "v6", second: "v5", faults: "expiry=1", schedule: "A:begins A:lock expiry B:lock", wantRow: 3,
			wantWhy: "A is told that it lost the lock, while its GET is in flight",
		}, {
			first: "v4", second: "v6", faults: "pause=1", schedule: "A:SET A:pauses B:SET time B:SET A:resumes", wantRow: 7,
			wantWhy: "A is told that it lost the lock",
		}, {
			first: "v0", second: "v4", schedule: "A:GET B:GET A:write B:write", wantRow: 1,
			wantWhy: "What happens: under v0, A reads stock 100; under v4, A takes the lock",
		}, {
			first: "v4", second: "v2", schedule: "A:SET B:SET A:GET A:write A:compareAndDelete B:SET",
		}, {
			first: "delex", second: "redlock", schedule: "A:SET", wantRow: 1,
			wantWhy: "The command: under delex, SET distributedLock distributedLock:A ex 10 NX → OK; under redlock, none",
		}, {
			first: "v2", second: "v1", faults: "expiry=1", schedule: "A:SET expiry B:SET", wantRow: 1,
			wantWhy: "under v1, lock: A; stock: 100",
		},
	} {
		t.Run(test.first+" "+test.second, func(t *testing.T) {
			c, err := compare(t, test.first, test.second, test.faults, test.schedule)
			if err != nil || c.FirstDifference != test.wantRow || !strings.Contains(strings.Join(c.Why, "\n"), test.wantWhy) {
				t.Errorf("%s: error %v, row %d, %q; want row %d, %q",
					test.schedule, err, c.FirstDifference, c.Why, test.wantRow, test.wantWhy)
			}
		})
	}
}

// A step that the second lock cannot take counts as a difference, with the reason.
func TestCompareExplainsImpossibleStep(t *testing.T) {
	c, err := compare(t, "v6", "v5", "slow=1", "A:begins A:lock slow")
	wantWhy := []string{"Under v5 this cannot happen: no timer is set"}
	if err != nil || c.FirstDifference != 3 || !slices.Equal(c.Why, wantWhy) || c.Rows[2][1] != nil {
		t.Errorf("v6 and v5: error %v, %+v; want row 3 to be impossible under v5", err, c)
	}
	c, err = compare(t, "v0", "v4", "", "A:GET A:write")
	if err != nil || c.FirstDifference != 1 {
		t.Errorf("v0 and v4: error %v, %+v; want a difference in row 1", err, c)
	}
	_, err = compare(t, "v4", "v5", "", "A:SET A:DEL")
	if !errors.Is(err, explore.ErrStale) || !strings.Contains(err.Error(), "step 2, A:DEL") {
		t.Errorf("got %v; want ErrStale at step 2, because v4 sends no DEL", err)
	}
}
