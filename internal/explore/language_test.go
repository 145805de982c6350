package explore_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/test/suite"
	"lockstep/internal/trace"
)

var (
	han = regexp.MustCompile(`\p{Han}`)

	// sameInAll are names, commands and units: what Chinese engineers leave as it is.
	sameInAll = regexp.MustCompile(`--[a-z-]+|[A-Za-z0-9.]+:[A-Za-z][\w/-]*|:resumes|[a-z]+(?:-[a-z]+)*=\d+` +
		`|(?:\d+(?:\.\d+)?(?:h|m|s|ms|µs))+\b|\b(?:Redis|Unlock|goroutine|context|explore|never|unknown|no fault|expiry|time|` +
		`[A-Z]+|r\d+|v\d+)\b|它的 [A-Za-z]+ 已在途中|(?m:^  [udq]  )|\b[udq]：`)
	latin = regexp.MustCompile(`[A-Za-z]`)
)

// english gives what is left of English in a Chinese text, "" if nothing is.
func english(text string) string {
	return strings.Join(latin.FindAllString(sameInAll.ReplaceAllString(text, ""), -1), "")
}

// Asked in Chinese, the explorer answers in nothing else, and finds what it finds in English.
func TestTheExplorerSpeaksChinese(t *testing.T) {
	locks := []string{"v2", "v10", "redlock"}
	if suite.Long {
		locks = evolution.Names()
	}
	for _, name := range locks {
		s := find(t, name)
		for _, in := range explore.ScenariosOf(s, 2) {
			bounds := explore.Bounds{Schedules: 20, Workers: 1}
			plain, err := explore.Explore(t.Context(), s, in.Scenario, explore.Goal{All: true}, bounds)
			if err != nil {
				t.Fatal(err)
			}
			in.Language = language.Chinese
			about := fmt.Sprintf("%s, %s", name, in.Name)
			for i, e := range plain.Found {
				replayed, err := explore.Replay(s, in.Scenario, e.Schedule())
				if err != nil || replayed.Schedule() != e.Schedule() || len(replayed.Shown) == 0 || replayed.Language != language.Chinese {
					t.Fatalf("%s: %s: %v, %+v", about, e.Schedule(), err, replayed.Shown)
				}
				isChinese(t, about, e.Anomaly().Row().Says.In(language.Chinese))
				for _, shown := range replayed.Shown {
					isChinese(t, about, shown.Says)
				}
				for j, step := range replayed.Steps {
					if isChinese(t, about, step.Says); (step.Says == "") != (plain.Found[i].Trace.Steps[j].Says == "") {
						t.Errorf("%s: step %d of %s says %q", about, j+1, e.Schedule(), step.Says)
					}
					isChinese(t, about, step.State(language.Chinese))
					isChinese(t, about, step.Title)
				}
			}
			walk(t, about, name, in.Scenario)
		}
	}
}

// walk takes a few steps, faults as soon as they can happen, and reads all there is to read.
func walk(t *testing.T, about, lock string, in explore.Scenario) {
	t.Helper()
	session, err := session.New(find(t, lock), in, "")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for range 8 {
		v := session.Now()
		for _, c := range v.Choices {
			isChinese(t, about, c.Says)
		}
		for _, d := range v.Disabled {
			isChinese(t, about, d.Why)
		}
		if v.Over {
			return
		}
		if err := session.Take(v.Choices[len(v.Choices)-1].Token); err != nil {
			t.Fatal(err)
		}
	}
}

// isChinese fails the test if a text is not, but for names and commands.
func isChinese(t *testing.T, about, text string) {
	t.Helper()
	if rest := english(text); rest != "" || text != "" && !han.MatchString(text) {
		t.Errorf("%s: %q: %q is no Chinese", about, text, rest)
	}
}

// What two locks do otherwise is told in Chinese, too, and so is why a schedule does not fit.
func TestComparisonsAndErrorsInChinese(t *testing.T) {
	in := faultsOfTwo("expiry=1")
	in.Language = language.Chinese
	for schedule, others := range map[string][2]string{
		"A:lock expiry": {"v5", "v6"}, "A:SET A:GET A:write expiry B:SET A:DEL": {"v2", "v3"},
	} {
		c, err := session.Compare(t.Context(), [2]strategy.Strategy{find(t, others[0]), find(t, others[1])}, in, schedule)
		if err != nil || len(c.Why) == 0 {
			t.Fatalf("%s: %v, %+v", schedule, err, c.Why)
		}
		for _, why := range c.Why {
			if !strings.HasPrefix(why, "命令：") {
				isChinese(t, schedule, why)
			}
		}
	}
	for _, schedule := range []string{"A:DEL", "A:SET A:GET A:write A:DEL", "B:SET expiry B:SET expiry", "A:SET/lost"} {
		_, err := explore.Replay(find(t, "v2"), in, schedule)
		if err == nil {
			continue
		}
		isChinese(t, schedule, err.Error())
	}
	for _, stance := range []trace.Stance{
		trace.Absent, trace.Outside, trace.Inside, trace.Paused, trace.PausedInside, trace.Ended, trace.Dead,
	} {
		isChinese(t, string(stance), stance.In(language.Chinese))
		if stance.In(language.English) != string(stance) {
			t.Errorf("%s is %s in English", stance, stance.In(language.English))
		}
	}
}
