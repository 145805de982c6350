package steps_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/stepper"
	"lockstep/internal/language"
	"lockstep/internal/learn/steps"
	"lockstep/internal/learn/workshop"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

// Every neighbour of the evolution has its step, in order.
func TestEveryNeighbour(t *testing.T) {
	var have, want []string
	for _, s := range steps.All(language.English) {
		have = append(have, s.Pair())
	}
	names := evolution.Names()
	for i, name := range names[:slices.Index(names, "v10")] {
		want = append(want, name+"-"+names[i+1])
	}
	want = append(want, "v8-redlock", "setnx-expire-lua-setnx")
	if !slices.Equal(have, want) {
		t.Errorf("the steps are %v; want %v", have, want)
	}
}

// A step's exercise is one of the workshop's; its address begins with the number that lockstep check takes.
func TestTheExercisesExist(t *testing.T) {
	having := 0
	for _, s := range steps.All(language.English) {
		if s.Exercise == "" {
			continue
		}
		having++
		if found, err := workshop.Find(s.Exercise[:2]); err != nil || found.ID() != s.Exercise {
			t.Errorf("%s: the exercise %q is %q, %v", s.Pair(), s.Exercise, found.ID(), err)
		}
	}
	if having == 0 {
		t.Error("no step has an exercise")
	}
}

func detail(t *testing.T, pair string, in language.Language) steps.Detail {
	t.Helper()
	d, err := steps.Find(pair, in)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// side gives a file as it was before ("-") or after ("+").
func side(f steps.File, kind string) string {
	var text strings.Builder
	for _, line := range f.Lines {
		if line.Kind == " " || line.Kind == kind {
			text.WriteString(line.Text + "\n")
		}
	}
	return text.String()
}

// What a step shows are the files as they are in the repository: a diff applied gives the later file, and all of them are there.
func TestTheDiffIsThatOfTheSources(t *testing.T) {
	for _, s := range steps.All(language.English) {
		if strings.Contains(s.From, "expire") {
			continue
		}
		shown := map[string]steps.File{}
		for _, f := range detail(t, s.Pair(), language.English).Files {
			shown[f.Name] = f
		}
		for kind, lock := range map[string]string{"-": s.From, "+": s.To} {
			dir := "lock" + lock
			if lock == "redlock" {
				dir = "lock/redlock"
			}
			paths, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
			if err != nil || len(paths) == 0 && lock != "v0" {
				t.Fatalf("%s has no files: %v", lock, err)
			}
			for _, path := range paths {
				name := filepath.Base(path)
				if text := read(t, path); !strings.HasSuffix(name, "_test.go") && side(shown[name], kind) != text {
					t.Errorf("%s: %s of %s is not as in the repository:\n%s", s.Pair(), name, lock, side(shown[name], kind))
				}
			}
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

// The scripts that a step adds, changes or does without belong to it.
func TestTheScriptsBelongToTheStep(t *testing.T) {
	for pair, want := range map[string][]string{
		"v2-v3": nil, "v3-v4": {"+compareAndDelete.lua"}, "v4-v5": {"-compareAndDelete.lua", "+lock.lua", "+unlock.lua"},
		"v5-v6": {"+updateExpireTime.lua"}, "v6-v7": {"lock.lua→lockFenced.lua"},
		"v8-v9":                  {"+acquire.lua", "-lockFenced.lua", "+queue.lua", "+release.lua", "-unlock.lua"},
		"v8-redlock":             {"+compareAndDelete.lua", "+compareAndExtend.lua", "-lockFenced.lua", "-unlock.lua", "-updateExpireTime.lua"},
		"setnx-expire-lua-setnx": {"+setnxExpire.lua"},
	} {
		var have []string
		for _, f := range detail(t, pair, language.English).Files {
			before, after, script := side(f, "-"), side(f, "+"), filepath.Join("../../../util/lua", f.Name)
			switch {
			case !strings.HasSuffix(f.Name, ".lua"):
				continue
			case f.Was != "":
				have = append(have, f.Was+"→"+f.Name)
			case before == "":
				have = append(have, "+"+f.Name)
			case after == "":
				have = append(have, "-"+f.Name)
			}
			if text := read(t, script); after != text && before != text {
				t.Errorf("%s: %s is neither before nor after as in the repository", pair, f.Name)
			}
		}
		if !slices.Equal(have, want) {
			t.Errorf("%s has the scripts %v; want %v", pair, have, want)
		}
	}
}

// A part of a file, where two locks are in one.
func TestTheContrasts(t *testing.T) {
	files := detail(t, "setnx-expire-lua-setnx", language.English).Files
	if before := side(files[0], "-"); !strings.HasPrefix(before, "// NewSetNXExpire makes") || strings.Count(before, "\nfunc ") != 1 {
		t.Errorf("before: %s", before)
	}
	if after := side(files[0], "+"); !strings.HasPrefix(after, "// NewLuaSetNX makes") || !strings.HasSuffix(after, "\n\t}}\n}\n") {
		t.Errorf("after: %s", after)
	}
}

// In Chinese, whatever is said has another text; and every step says what it adds.
func TestTheWords(t *testing.T) {
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

// Each schedule runs, and shows its anomaly in its last step.
func TestTheSchedulesShowTheSteps(t *testing.T) {
	for _, s := range steps.All(language.English) {
		lock, in := found(t, s.Shown.Lock), scenario(t, s.Shown.Scenario)
		replayed, err := explore.Replay(lock, in, s.Shown.Schedule)
		shows := func(shown explore.Shown) bool { return string(shown.Anomaly) == s.Shown.Anomaly }
		if i := slices.IndexFunc(replayed.Shown, shows); err != nil ||
			s.Shown.Anomaly != "" && (i < 0 || replayed.Shown[i].Step != len(replayed.Steps)) {
			t.Errorf("%s: %v, %v; want %s in step %d", s.Pair(), err, replayed.Shown, s.Shown.Anomaly, len(replayed.Steps))
		}
		if s.Shown.Beside == "" {
			continue
		}
		compared, err := stepper.Compare([2]strategy.Strategy{lock, found(t, s.Shown.Beside)}, in, s.Shown.Schedule)
		if err != nil || compared.Differs == 0 {
			t.Errorf("%s: %v; %s does nothing else under %s", s.Pair(), err, s.Shown.Schedule, s.Shown.Beside)
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

func TestHandler(t *testing.T) {
	for path, status := range map[string]int{
		"/seat/steps": http.StatusOK, "/seat/steps/v3-v4?lang=zh": http.StatusOK, "/seat/steps/v3-v5": http.StatusNotFound,
		"/seat/steps/setnx-expire-lua-setnx": http.StatusOK,
	} {
		recorder := httptest.NewRecorder()
		steps.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
		var document any
		if err := json.Unmarshal(recorder.Body.Bytes(), &document); recorder.Code != status || err != nil {
			t.Errorf("%s: %d, %v: %s", path, recorder.Code, err, recorder.Body)
		}
		if strings.Contains(recorder.Body.String(), "null") && status == http.StatusOK && strings.Contains(recorder.Body.String(), ":null") {
			t.Errorf("%s has a null: %s", path, recorder.Body)
		}
	}
	if _, err := steps.Find("v4-v3", language.English); !errors.Is(err, steps.ErrUnknown) || !strings.Contains(err.Error(), "v3-v4") {
		t.Errorf("%v; want ErrUnknown, and what there is", err)
	}
}
