package config_test

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/internal/shop/config"
)

// An old name has no effect, so it is refused, and the error says the new one.
func TestOldNamesAreRefused(t *testing.T) {
	for _, file := range []string{"lock.max_passes: 3", "lock:\n  max_passes: 3", "LOCK:\n  Max_Passes: 3"} {
		_, err := load(t, file)
		line := strings.Count(file, "\n") + 1
		want := fmt.Sprintf("config.yaml:%d: lock.max_passes is called lock.hand_off_limit now", line)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v; want %s", file, err, want)
		}
	}
	if cfg, err := load(t, "lock.hand_off_limit: 3"); err != nil || cfg.Lock.HandOffLimit != 3 {
		t.Errorf("the new name: %+v, %v", cfg.Lock, err)
	}
	if now, was := config.Renamed("lock.max_passes"); !was || now != "lock.hand_off_limit" {
		t.Errorf("lock.max_passes: %q, %v", now, was)
	}
	if now, was := config.Renamed("lock.ttl"); was {
		t.Errorf("lock.ttl was never called otherwise, nor is it called %q", now)
	}
	t.Setenv("LOCKSTEP_LOCK_MAX_PASSES", "3")
	want := "environment: LOCKSTEP_LOCK_MAX_PASSES is called LOCKSTEP_LOCK_HAND_OFF_LIMIT now"
	if _, err := load(t, ""); err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}
