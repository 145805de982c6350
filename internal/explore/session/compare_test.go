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

func compared(t *testing.T, first, second, faults, schedule string) (session.Comparison, error) {
	t.Helper()
	return session.Compare(t.Context(), [2]strategy.Strategy{find(t, first), find(t, second)}, with(t, faults, 0), schedule)
}

func TestTheFirstStepThatDiffers(t *testing.T) {
	for _, test := range []struct {
		first, second, faults, schedule string
		row                             int
		why                             string
	}{
		{"v1", "v2", "crash=1", "A:SET/dies-after B:SET", 1,
			"The state then: under v1, lock: A; stock: 100; under v2, lock: A, for 10s; stock: 100"},
		{"v3", "v4", "expiry=1", "A:SET A:GET A:write A:GET expiry B:SET A:DEL", 4, "What happens: under v3, A finds the lock to be A's"},
		{"v5", "v6", "expiry=1", "A:lock expiry B:lock", 3, "A is told that it lost the lock"},
		{"v6", "v5", "expiry=1", "A:begins A:lock expiry B:lock", 3, "A is told that it lost the lock, while its GET is in flight"},
		{"v4", "v6", "pause=1", "A:SET A:pauses B:SET time B:SET A:resumes", 7, "A is told that it lost the lock"},
		{"v0", "v4", "", "A:GET B:GET A:write B:write", 1, "What happens: under v0, A reads stock 100; under v4, A takes the lock"},
		{"v4", "v2", "", "A:SET B:SET A:GET A:write A:compareAndDelete B:SET", 0, ""},
		{"delex", "redlock", "", "A:SET", 1,
			"The command: under delex, SET distributedLock distributedLock:A ex 10 NX → OK; under redlock, none"},
		{"v2", "v1", "expiry=1", "A:SET expiry B:SET", 1, "under v1, lock: A; stock: 100"},
	} {
		c, err := compared(t, test.first, test.second, test.faults, test.schedule)
		if err != nil || c.FirstDifference != test.row || !strings.Contains(strings.Join(c.Why, "\n"), test.why) {
			t.Errorf("%s against %s, %s: %v, row %d, %q; want row %d, %q",
				test.first, test.second, test.schedule, err, c.FirstDifference, c.Why, test.row, test.why)
		}
	}
}

// A step that the second lock cannot take differs, and the reason is said.
func TestAStepThatTheOtherCannotTake(t *testing.T) {
	c, err := compared(t, "v6", "v5", "slow=1", "A:begins A:lock slow")
	wantWhy := []string{"Under v5 this cannot happen: no timer is set"}
	if err != nil || c.FirstDifference != 3 || !slices.Equal(c.Why, wantWhy) || c.Rows[2][1] != nil {
		t.Errorf("%v: %+v; want the third not to happen under v5", err, c)
	}
	c, err = compared(t, "v0", "v4", "", "A:GET A:write")
	if err != nil || c.FirstDifference != 1 {
		t.Errorf("%v: %+v; want the first", err, c)
	}
	_, err = compared(t, "v4", "v5", "", "A:SET A:DEL")
	if !errors.Is(err, explore.ErrStale) || !strings.Contains(err.Error(), "step 2, A:DEL") {
		t.Errorf("%v; want ErrStale at step 2: that is no schedule of v4", err)
	}
}
