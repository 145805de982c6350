package lab

import (
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

// A lock whose command the installed Redis lacks is not run there: that is no result of the lab.
func TestALockThatTheRedisLacks(t *testing.T) {
	row, err := evolution.Find("delex")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range language.All() {
		if unavailable(row.Fits(strategy.Servers{Redis: "Redis 7.0.15"}), in) == "" {
			t.Errorf("in %s nothing says why delex was not run", in)
		}
	}
	if err := row.Fits(strategy.Servers{CompareAndDelete: "DELEX"}); err != nil {
		t.Error(err)
	}
}
