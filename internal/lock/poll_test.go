package lock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
)

func TestPollRetriesOnlyErrNotObtained(t *testing.T) {
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		err   error         // error of each attempt before after
		after time.Duration // time at which the lock becomes free
		leave time.Duration // time at which the context ends
		want  error
		took  time.Duration
	}{
		"free":       {nil, 0, time.Hour, nil, 0},
		"free later": {lock.ErrNotObtained, 50 * time.Millisecond, time.Hour, nil, 60 * time.Millisecond}, // time of the next attempt
		"too late":   {lock.ErrNotObtained, time.Hour, time.Hour, lock.ErrTimeout, options.WaitTimeout},
		"cancelled":  {lock.ErrNotObtained, time.Hour, 30 * time.Millisecond, lock.ErrCancelled, 30 * time.Millisecond},
		"no Redis":   {gone, time.Hour, time.Hour, gone, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.leave)
				defer cancel()
				began := time.Now()
				got, err := lock.Poll(ctx, options, func() (string, error) {
					if time.Since(began) >= c.after {
						return "obtained", nil
					}
					return "", c.err
				})
				if !errors.Is(err, c.want) || (err == nil) != (got == "obtained") {
					t.Errorf("%q, %v; want %v", got, err, c.want)
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v; want %v", took, c.took)
				}
			})
		})
	}
}

func TestPollAtUsesGivenPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, pause, attempts := time.Now(), time.Duration(0), 0
		_, err := lock.PollAt(t.Context(), options, func() time.Duration { pause += time.Millisecond; return pause }, func() (int, error) {
			if attempts++; attempts < 4 {
				return 0, lock.ErrNotObtained
			}
			return attempts, nil
		})
		if took := time.Since(began); err != nil || took != (1+2+3)*time.Millisecond {
			t.Errorf("%v, after %v; want pauses of 1, 2 and 3 ms", err, took)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = lock.Poll(ended, options, func() (int, error) { t.Error("an attempt after the context has ended"); return 0, nil })
		if !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Poll: %v", err)
		}
	})
}

// retryClock is a clock that records for each wait whether lock.IsRetry holds.
type retryClock struct {
	lock.Clock

	retries *[]bool
}

func (a retryClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	*a.retries = append(*a.retries, lock.IsRetry(ctx))
	return a.Clock.Wait(ctx, ch)
}

// IsRetry holds for the pauses of Poll, and for no other wait, not even one within an attempt.
func TestIsRetryDistinguishesPollPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var retries []bool
		opts, attempts := options, 0
		opts.Clock = retryClock{opts.Clock, &retries}
		_, err := lock.Poll(t.Context(), opts, func() (int, error) {
			if attempts++; attempts == 3 {
				return attempts, nil
			}
			_ = lock.Sleep(t.Context(), opts.Clock, time.Millisecond)
			return 0, lock.ErrNotObtained
		})
		if want := []bool{false, true, false, true}; err != nil || !slices.Equal(retries, want) {
			t.Errorf("%v, %v; want %v", retries, err, want)
		}
	})
}
