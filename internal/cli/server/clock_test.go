package server_test

import (
	"errors"
	"testing"

	"lockstep/internal/lock"
	"lockstep/internal/test/shoptest"
)

// A replica whose clock is ahead by more than the expiry takes a getset lock over while its holder is inside; one whose clock is
// right does not, nor does any take v4's.
func TestClockOffset(t *testing.T) {
	t.Parallel()
	right := shoptest.Start(t)
	for offset, taken := range map[string]string{"0s": "", "-15s": "", "15s": "getset"} {
		other := shoptest.Start(t, "--redis.addrs", right.Own.Redis.Addr, "--server.clock_offset", offset)
		for _, name := range []string{"getset", "v4"} {
			lease, err := locker(right, name).Lock(t.Context(), lock.Owner("a"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = locker(other, name).TryLock(t.Context(), lock.Owner("b"))
			if want := taken == name; want != (err == nil) || err != nil && !errors.Is(err, lock.ErrNotObtained) {
				t.Errorf("%s, clock ahead by %s: %v; want it taken over: %t", name, offset, err, want)
			}
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// locker is the lock that a server sells under.
func locker(s *shoptest.Server, name string) lock.Locker {
	parts := s.Own.API.Shop.Parts
	parts.TTL, parts.RetryInterval, parts.WaitTimeout = s.Config.Settings.TTL, s.Config.Settings.RetryInterval, s.Config.Settings.WaitTimeout
	return s.Own.API.Shop.Strategies[name].New(parts)
}
