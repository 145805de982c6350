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

	// untranslated matches names, commands and units, which Chinese engineers do not translate.
	untranslated = regexp.MustCompile(`--[a-z-]+|[A-Za-z0-9.]+:[A-Za-z][\w/-]*|:resumes|[a-z]+(?:-[a-z]+)*=\d+` +
		`|(?:\d+(?:\.\d+)?(?:h|m|s|ms|µs))+\b|\b(?:Redis|Unlock|goroutine|context|explore|never|unknown|no fault|expiry|time|` +
		`[A-Z]+|r\d+|v\d+)\b|它的 [A-Za-z]+ 已在途中|(?m:^  [udq]  )|\b[udq]：`)
	latin = regexp.MustCompile(`[A-Za-z]`)
)

// englishLetters returns the Latin letters in a Chinese text that do not belong to an untranslated word.
func englishLetters(text string) string {
	return strings.Join(latin.FindAllString(untranslated.ReplaceAllString(text, ""), -1), "")
}

// In Chinese, every sentence of the explorer is Chinese, and the results are the same as in English.
func TestExplorerOutputIsChinese(t *testing.T) {
	locks := []string{"v2", "v10", "redlock"}
	if suite.Long {
		locks = evolution.Names()
	}
	for _, name := range locks {
		s := findStrategy(t, name)
		for _, in := range explore.ScenariosFor(s, 2) {
			bounds := explore.Bounds{Schedules: 20, Workers: 1}
			plain, err := explore.Explore(t.Context(), s, in.Scenario, explore.Goal{All: true}, bounds)
			if err != nil {
				t.Fatal(err)
			}
			in.Language = language.Chinese
			about := fmt.Sprintf("%s, %s", name, in.Name)
			for i, e := range plain.Found {
				replayed, err := explore.Replay(s, in.Scenario, e.Schedule())
				if err != nil || replayed.Schedule() != e.Schedule() || len(replayed.Hits) == 0 || replayed.Language != language.Chinese {
					t.Fatalf("%s: %s: %v, %+v", about, e.Schedule(), err, replayed.Hits)
				}
				checkChinese(t, about, e.Anomaly().Row().Says.In(language.Chinese))
				for _, shown := range replayed.Hits {
					checkChinese(t, about, shown.Says)
				}
				for j, step := range replayed.Steps {
					if checkChinese(t, about, step.Says); (step.Says == "") != (plain.Found[i].Trace.Steps[j].Says == "") {
						t.Errorf("%s: step %d of %s says %q", about, j+1, e.Schedule(), step.Says)
					}
					checkChinese(t, about, step.State(language.Chinese))
					checkChinese(t, about, step.Title)
				}
			}
			checkWalkIsChinese(t, about, name, in.Scenario)
		}
	}
}

// checkWalkIsChinese walks along a schedule, with faults as soon as possible, and checks every text on the way.
func checkWalkIsChinese(t *testing.T, about, lock string, in explore.Scenario) {
	t.Helper()
	session, err := session.New(findStrategy(t, lock), in, "")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for range 8 {
		v := session.Now()
		for _, c := range v.Choices {
			checkChinese(t, about, c.Says)
		}
		for _, d := range v.Disabled {
			checkChinese(t, about, d.Why)
		}
		if v.Over {
			return
		}
		if err := session.Take(v.Choices[len(v.Choices)-1].Token); err != nil {
			t.Fatal(err)
		}
	}
}

// checkChinese checks that a text is Chinese, apart from names and commands.
func checkChinese(t *testing.T, about, text string) {
	t.Helper()
	if rest := englishLetters(text); rest != "" || text != "" && !han.MatchString(text) {
		t.Errorf("%s: %q: %q is not Chinese", about, text, rest)
	}
}

// Comparisons of two locks, and errors about schedules that do not fit, are in Chinese.
func TestComparisonsAndErrorsAreChinese(t *testing.T) {
	in := twoActors("expiry=1")
	in.Language = language.Chinese
	for schedule, names := range map[string][2]string{
		"A:lock expiry": {"v5", "v6"}, "A:SET A:GET A:write expiry B:SET A:DEL": {"v2", "v3"},
	} {
		c, err := session.Compare(t.Context(), [2]strategy.Strategy{findStrategy(t, names[0]), findStrategy(t, names[1])}, in, schedule)
		if err != nil || len(c.Why) == 0 {
			t.Fatalf("%s: %v, %+v", schedule, err, c.Why)
		}
		for _, why := range c.Why {
			if !strings.HasPrefix(why, "命令：") {
				checkChinese(t, schedule, why)
			}
		}
	}
	for _, schedule := range []string{"A:DEL", "A:SET A:GET A:write A:DEL", "B:SET expiry B:SET expiry", "A:SET/lost"} {
		_, err := explore.Replay(findStrategy(t, "v2"), in, schedule)
		if err == nil {
			continue
		}
		checkChinese(t, schedule, err.Error())
	}
	for _, stance := range []trace.Stance{
		trace.Absent, trace.Outside, trace.Inside, trace.Paused, trace.PausedInside, trace.Ended, trace.Dead,
	} {
		checkChinese(t, string(stance), stance.In(language.Chinese))
		if stance.In(language.English) != string(stance) {
			t.Errorf("%s is %s in English; want it unchanged", stance, stance.In(language.English))
		}
	}
}
