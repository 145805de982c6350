package steps_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/api/route"
	"lockstep/internal/evolution"
	"lockstep/internal/exercise"
	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/steps"
	"lockstep/internal/strategy"
)

// Every neighbour of the evolution has its step, in order.
func TestEveryNeighbourHasStep(t *testing.T) {
	var have, want []string
	for _, s := range steps.All(language.English) {
		have = append(have, s.Pair())
	}
	names := evolution.Names()
	for i, name := range names[:slices.Index(names, "v11")] {
		want = append(want, name+"-"+names[i+1])
	}
	want = append(want, "v4-delex", "v9-redlock", "setnx-expire-lua-setnx")
	if !slices.Equal(have, want) {
		t.Errorf("the steps are %v; want %v", have, want)
	}
}

// A step's exercise is one of the workshop's; its address begins with the number that lockstep check takes.
func TestExercisesOfStepsExist(t *testing.T) {
	having := 0
	for _, s := range steps.All(language.English) {
		if s.Exercise == "" {
			continue
		}
		having++
		if found, err := exercise.Find(s.Exercise[:2]); err != nil || found.ID() != s.Exercise {
			t.Errorf("%s: the exercise %q is %q, %v", s.Pair(), s.Exercise, found.ID(), err)
		}
	}
	if having == 0 {
		t.Error("no step has an exercise")
	}
}

func detail(t *testing.T, pair string) steps.Detail {
	t.Helper()
	d, err := steps.Find(pair, language.English)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// side returns the text of a file before ("-") or after ("+") a step. The indentation before is not kept.
func side(f steps.File, kind string) string {
	var text strings.Builder
	for _, line := range f.Lines {
		if line.Kind == steps.Same || line.Kind == kind {
			text.WriteString(line.Text + "\n")
		}
	}
	return text.String()
}

// A step shows the files as they are in the repository: all lines that only one of the two has, and no others.
func TestDiffMatchesSources(t *testing.T) {
	for _, s := range steps.All(language.English) {
		if strings.Contains(s.From, "expire") {
			continue
		}
		files := detail(t, s.Pair()).Files
		before, after := lockFiles(t, s.From), lockFiles(t, s.To)
		for name, text := range after {
			var have, others string
			for _, f := range files {
				switch base := filepath.Base(f.Name); {
				case base != name || strings.HasPrefix(f.Name, "internal/lock/") && strings.HasPrefix(s.To, "v"):
				case f.Head && !strings.HasPrefix(text, side(f, steps.Added)), !f.Head && !strings.HasSuffix(text, side(f, steps.Added)):
					t.Errorf("%s: %s is not as in the repository:\n%s", s.Pair(), name, side(f, steps.Added))
				default:
					have, others = have+side(f, steps.Added), others+side(f, steps.Removed)
				}
			}
			lacks(t, s.Pair()+", after, "+name, text, before[name], have)
			lacks(t, s.Pair()+", before, "+name, before[name], text, others)
		}
	}
}

// lockFiles returns the files of a lock's package.
func lockFiles(t *testing.T, lock string) map[string]string {
	t.Helper()
	dir := "lock" + lock
	if !strings.HasPrefix(lock, "v") {
		dir = "lock/" + lock
	}
	paths, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
	if err != nil || len(paths) == 0 && lock != "v0" {
		t.Fatalf("%s has no files: %v", lock, err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			texts[filepath.Base(path)] = read(t, path)
		}
	}
	return texts
}

// lacks reports each line of a text that another lacks and that is not shown.
func lacks(t *testing.T, where, text, other, shown string) {
	t.Helper()
	other, shown = unaligned(other), unaligned(shown)
	for line := range strings.Lines(unaligned(text)) {
		if !strings.Contains(other, line) && !strings.HasPrefix(line, "package ") && !strings.Contains(shown, line) {
			t.Errorf("%s: it does not show %q", where, line)
		}
	}
}

// unaligned is a text without the space that gofmt chooses.
func unaligned(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " ")+"\n")
	}
	return strings.Join(lines, "")
}

// The parts come in reading order: the lock, its scripts, the code that it shares with others, and last the heads, the lock's first.
func TestPartsComeInReadingOrder(t *testing.T) {
	for pair, want := range map[string]string{
		"v3-v4": "internal/lockv4/unlock.go util/lua/compareAndDelete.lua ^internal/lockv4/lock.go ^internal/lockv4/unlock.go",
		"v6-v7": "internal/lockv7/lock.go util/lua/lockFenced.lua ^internal/lockv7/lock.go",
		"v0-v1": "internal/lockv1/lock.go internal/lockv1/unlock.go internal/lock/poll.go " +
			"^internal/lockv1/lock.go ^internal/lockv1/unlock.go ^internal/lock/poll.go",
	} {
		var have []string
		for _, f := range detail(t, pair).Files {
			if f.Head {
				f.Name = "^" + f.Name
			}
			have = append(have, f.Name)
		}
		if got := strings.Join(have, " "); got != want {
			t.Errorf("%s: %s\nwant %s", pair, got, want)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A step includes the scripts that it adds, changes or drops. A dropped script is not shown, because other locks send it.
func TestStepIncludesItsScripts(t *testing.T) {
	for pair, want := range map[string][]string{
		"v2-v3": nil, "v3-v4": {"+compareAndDelete.lua"}, "v4-v5": {"+lock.lua", "+unlock.lua", "No longer sent: compareAndDelete.lua"},
		"v5-v6": {"+updateExpireTime.lua"}, "v6-v7": {"lock.lua→lockFenced.lua"},
		"v9-v10":  {"lockFenced.lua→acquire.lua", "+queue.lua", "unlock.lua→release.lua", "No longer used in internal/lock: poll.go"},
		"v10-v11": {"acquire.lua→acquireOrAsk.lua"},
		"v9-redlock": {
			"+compareAndDelete.lua", "+compareAndExtend.lua", "No longer sent: lockFenced.lua, unlock.lua, updateExpireTime.lua",
		},
		"setnx-expire-lua-setnx": {"+setnxExpire.lua"},
	} {
		var have []string
		step := detail(t, pair)
		for _, f := range step.Files {
			name := filepath.Base(f.Name)
			switch {
			case !strings.HasSuffix(name, ".lua"):
				continue
			case f.Replaces != "":
				have = append(have, f.Replaces+"→"+name)
			case side(f, steps.Removed) == "":
				have = append(have, "+"+name)
			}
			if text := read(t, filepath.Join("../..", f.Name)); side(f, steps.Added) != text {
				t.Errorf("%s: %s is not as in the repository", pair, f.Name)
			}
		}
		if have = append(have, step.Removals...); !slices.Equal(have, want) {
			t.Errorf("%s has the scripts %v; want %v", pair, have, want)
		}
	}
}

// A contrast shows only its part of a file that has two locks.
func TestContrastsShowPartsOfFiles(t *testing.T) {
	files := detail(t, "setnx-expire-lua-setnx").Files
	if before := side(files[0], "-"); !strings.HasPrefix(before, "// NewSetNXExpire returns") || strings.Count(before, "\nfunc ") != 1 {
		t.Errorf("before: %s", before)
	}
	if after := side(files[0], "+"); !strings.HasPrefix(after, "// NewLuaSetNX returns") || !strings.HasSuffix(after, "\n\t}}\n}\n") {
		t.Errorf("after: %s", after)
	}
}

// The Chinese texts differ from the English ones, and every step says what it adds.
func TestStepTextsAreTranslated(t *testing.T) {
	chinese := steps.All(language.Chinese)
	for i, en := range steps.All(language.English) {
		zh := chinese[i]
		for what, texts := range map[string][2]string{"flaw": {en.Flaw, zh.Flaw}, "cure": {en.Cure, zh.Cure}, "adds": {en.Adds, zh.Adds}} {
			if texts[0] != "" && texts[0] == texts[1] {
				t.Errorf("%s: %s is in English: %s", en.Pair(), what, texts[1])
			}
		}
		if en.Adds == "" || en.Costs == "" || en.StillBroken == "" || en.Lab != "" && (en.Flaw == "" || en.Cure == "") {
			t.Errorf("%+v says too little", en)
		}
	}
}

// The numbers of a step begin with the gain that argues for it; a contrast has no numbers.
func TestNumbersBeginWithTheStepsGain(t *testing.T) {
	for pair, want := range map[string]string{
		"v0-v1": "one buyer: ", "v7-v8": "16 buyers in one process: longest wait ", "v8-v9": "200 buyers in one process: ",
		"v9-v10": "16 buyers in 3 processes: longest wait ", "v10-v11": "one buyer: ", "v9-redlock": "one buyer: ",
	} {
		if s := detail(t, pair); !strings.HasPrefix(s.Measured[0], want) || s.Where == "" {
			t.Errorf("%s: %q, %s; want %s first", pair, s.Measured, s.Where, want)
		}
	}
	if s := detail(t, "setnx-expire-lua-setnx"); len(s.Measured) > 0 {
		t.Errorf("%q", s.Measured)
	}
}

// Each schedule runs, and shows its anomaly in its last step.
func TestSchedulesOfStepsReplay(t *testing.T) {
	for _, s := range steps.All(language.English) {
		lock, in := found(t, s.Demonstration.Lock), scenario(t, s.Demonstration.Scenario)
		replayed, err := explore.Replay(lock, in, s.Demonstration.Schedule)
		shows := func(shown explore.AnomalyHit) bool { return shown.Anomaly == s.Demonstration.Anomaly }
		if i := slices.IndexFunc(replayed.Hits, shows); err != nil ||
			s.Demonstration.Anomaly != "" && (i < 0 || replayed.Hits[i].Step != len(replayed.Steps)) {
			t.Errorf("%s: %v, %v; want %s in step %d", s.Pair(), err, replayed.Hits, s.Demonstration.Anomaly, len(replayed.Steps))
		}
		if s.Demonstration.Against == "" {
			continue
		}
		compared, err := session.Compare(t.Context(), [2]strategy.Strategy{lock, found(t, s.Demonstration.Against)}, in, s.Demonstration.Schedule)
		if err != nil || compared.FirstDifference == 0 {
			t.Errorf("%s: %v; %s does nothing else under %s", s.Pair(), err, s.Demonstration.Schedule, s.Demonstration.Against)
		}
	}
}

func found(t *testing.T, name string) strategy.Strategy {
	t.Helper()
	lock, err := evolution.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func scenario(t *testing.T, flags string) explore.Scenario {
	t.Helper()
	in, err := explore.ParseScenario(flags)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestHandlerServesSteps(t *testing.T) {
	for path, status := range map[string]int{
		"/seat/steps": http.StatusOK, "/seat/steps/v3-v4?lang=zh": http.StatusOK, "/seat/steps/v3-v5": http.StatusNotFound,
		"/seat/steps/setnx-expire-lua-setnx": http.StatusOK,
	} {
		recorder := httptest.NewRecorder()
		route.Mux(steps.Routes()...).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
		var document any
		if err := json.Unmarshal(recorder.Body.Bytes(), &document); recorder.Code != status || err != nil {
			t.Errorf("%s: %d, %v: %s", path, recorder.Code, err, recorder.Body)
		}
		if strings.Contains(recorder.Body.String(), "null") && status == http.StatusOK && strings.Contains(recorder.Body.String(), ":null") {
			t.Errorf("%s has a null: %s", path, recorder.Body)
		}
	}
}

// Between returns the step between two locks, or an error that names the steps. For one lock it returns the step that follows.
func TestBetweenFindsNeighbours(t *testing.T) {
	for locks, want := range map[[2]string]string{
		{"v3", "v4"}: "v3-v4", {"v3", ""}: "v3-v4", {"v9", ""}: "v9-v10", {"v9", "redlock"}: "v9-redlock",
	} {
		if got, err := steps.Between(locks[0], locks[1], language.English); err != nil || got.Pair() != want {
			t.Errorf("%v: %s, %v; want %s", locks, got.Pair(), err, want)
		}
	}
	for _, locks := range [][2]string{{"v4", "v3"}, {"v3", "v5"}, {"v11", ""}} {
		_, err := steps.Between(locks[0], locks[1], language.English)
		if !errors.Is(err, steps.ErrUnknown) || !strings.Contains(err.Error(), "v3-v4") {
			t.Errorf("%v: %v; want ErrUnknown, and what there is", locks, err)
		}
	}
}

// The command by which a lab shows the cure in the code is one of the steps.
func TestLabDiffCommandsNameSteps(t *testing.T) {
	for _, l := range lab.OnService() {
		if diff := strings.Fields(l.Diff()); len(diff) > 0 {
			if _, err := steps.Between(diff[1], diff[2], language.English); err != nil || diff[0] != "diff" {
				t.Errorf("%s: %s: %v", l.Name, l.Diff(), err)
			}
		}
	}
}

// The code that is shown has the next action of every sale, so the page can mark the line.
func TestSaleStagesAppearInShownCode(t *testing.T) {
	for _, lock := range evolution.Table() {
		code, err := steps.Code(lock.Name)
		if err != nil || len(code) == 0 {
			t.Fatalf("%s: %v, %v", lock.Name, code, err)
		}
		shown := map[string]bool{}
		for _, part := range code {
			text, err := os.ReadFile(filepath.Join("..", "..", part.Name))
			if err != nil {
				t.Fatal(err)
			}
			if path.Ext(part.Name) == ".go" {
				if _, err := parser.ParseFile(token.NewFileSet(), part.Name, "package whole\n"+part.Text, 0); err != nil {
					t.Errorf("%s: a part is not whole: %v", lock.Name, err)
				}
			}
			for i, line := range strings.Split(part.Text, "\n") {
				if source := strings.Split(string(text), "\n")[part.From-1+i]; source != line {
					t.Fatalf("%s: line %d of %s is %q, not %q", lock.Name, part.From+i, part.Name, source, line)
				}
				shown[fmt.Sprintf("%s:%d", part.Name, part.From+i)] = true
			}
		}
		session, err := session.New(lock, explore.Scenario{Actors: 2}, "")
		if err != nil {
			t.Fatal(err)
		}
		places := 0
		for range 12 {
			tokens := session.Now().Tokens()
			if len(tokens) == 0 {
				break
			}
			if err := session.Take(tokens[len(tokens)-1]); err != nil {
				t.Fatal(err)
			}
			for _, actor := range session.Now().State.Actors {
				for _, place := range actor.Places {
					if places++; !slices.ContainsFunc(place.Calls, func(call string) bool { return shown[call] }) {
						t.Errorf("%s: after %s, %s is at %v, which is not shown", lock.Name, session.Now().Schedule, place.Task, place.Calls)
					}
				}
			}
		}
		if session.Close(); places == 0 && lock.Name != "atomic" && lock.Name != "non-idempotent" { // which are one command
			t.Errorf("%s: sales are nowhere", lock.Name)
		}
	}
}

// The catalogue says of an anomaly that a lesson shows it, if a step's schedule does.
func TestCatalogueNamesLessons(t *testing.T) {
	shown := map[anomaly.Anomaly]bool{"": true}
	for _, s := range steps.All(language.English) {
		shown[s.Demonstration.Anomaly] = true
	}
	for _, row := range anomaly.Catalogue() {
		if shown[row.ID] != slices.Contains(strings.Fields(row.Parts), "lesson") {
			t.Errorf("%s is shown by %q, and a step shows it: %t", row.ID, row.Parts, shown[row.ID])
		}
	}
}
