package seat_test

import (
	"strings"
	"testing"

	"lockstep/internal/explore/seat"
)

// Each fault has a title in both languages that is not its flag name.
func TestEachFaultHasATitle(t *testing.T) {
	for in, wrong := range map[string]string{"en": "-", "zh": "abcdefghijklmnopqrstuvwxyz"} {
		for _, fault := range get[seat.Index](t, open(t, seat.Limits{}), "/seat", "lang", in).Faults {
			if title := strings.TrimPrefix(fault.Title, "Redis"); title == "" || strings.ContainsAny(title, wrong) {
				t.Errorf("%s, in %s: %q", fault.Name, in, fault.Title)
			}
		}
	}
}

// A schedule that needs more faults than its scenario allows is stale, with a reason that contains no flags.
func TestStaleStateNamesMissingFaults(t *testing.T) {
	for in, want := range map[string]string{
		"en": "step 2: the scenario allows too few faults for it. It takes: expiry, lost reply ×2",
		"zh": "第 2 步：场景允许的故障不够。需要：过期、响应丢失 ×2",
	} {
		state := get[seat.State](t, open(t, limitsWithoutTable()), "/seat/state",
			"lock", "v2", "lang", in, "do", "A:SET expiry B:SET/lost A:GET/lost")
		if state.Stale == nil || state.Stale.Says != want {
			t.Errorf("%+v; want %q", state.Stale, want)
		}
	}
}
