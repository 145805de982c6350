package seat

import (
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
)

// Each fault has a name in both languages that is no flag.
func TestEachFaultHasATitle(t *testing.T) {
	for in, wrong := range map[language.Language]string{language.English: "-", language.Chinese: "abcdefghijklmnopqrstuvwxyz"} {
		for _, fault := range New(Limits{}).Index(in).Faults {
			if title := strings.TrimPrefix(fault.Title, "Redis"); title == "" || strings.ContainsAny(title, wrong) {
				t.Errorf("%s, in %s: %q", fault.Name, in, fault.Title)
			}
		}
	}
}

// A schedule that needs more faults than its scenario allows says so without flags.
func TestAStalePlaceSaysInWordsWhatItNeeds(t *testing.T) {
	v2, err := evolution.Find("v2")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[language.Language]string{
		language.English: "step 2: the scenario allows too few faults for it. It takes: expiry, lost reply ×2",
		language.Chinese: "第 2 步：场景允许的故障不够。需要：过期、响应丢失 ×2",
	} {
		scenario := explore.Scenario{Actors: 2, Language: in}
		place := Place{Strategy: v2, Scenario: scenario, Schedule: "A:SET expiry B:SET/lost A:GET/lost"}
		at, stale, err := place.session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at.Close()
		if stale == nil || stale.Says != want {
			t.Errorf("%+v; want %q", stale, want)
		}
	}
}
