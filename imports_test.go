package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The house: who may import whom. A package that is not here, or an arrow that is not, is a change of the design, and
// belongs into docs/ARCHITECTURE.md too.
var house = map[string][]string{
	"lockstep": {"internal/cli"},
	"lockstep/internal/cli": {
		"docs", "internal/api", "internal/classroom", "internal/cluster", "internal/config", "internal/course", "internal/dao",
		"internal/doctor", "internal/evolution", "internal/explore", "internal/explore/graph", "internal/explore/stepper",
		"internal/history", "internal/job", "internal/lab", "internal/language", "internal/live", "internal/load", "internal/lock",
		"internal/lockv6", "internal/matrix", "internal/metrics", "internal/pack", "internal/progress", "internal/seat",
		"internal/service", "internal/soak", "internal/steps", "internal/strategy", "internal/trace", "internal/web",
		"internal/witness", "internal/workshop",
	},
	"lockstep/internal/workshop": {"internal/explore", "internal/language", "internal/strategy", "internal/trace"},
	"lockstep/internal/progress": {},
	"lockstep/internal/matrix": {
		"internal/evolution", "internal/explore", "internal/lab", "internal/language", "internal/strategy",
	},
	"lockstep/internal/soak": {
		"internal/api", "internal/cluster", "internal/dao", "internal/history", "internal/lock", "internal/redisclient",
		"internal/redisproxy", "internal/redisserver", "util/lua",
	},
	"lockstep/internal/witness": {
		"internal/dao", "internal/language", "internal/lock", "internal/reason", "internal/service", "internal/trace", "util/lua",
	},
	"lockstep/internal/reason": {"internal/language", "internal/lock", "internal/service"},
	"lockstep/internal/lab": {
		"internal/cluster", "internal/dao", "internal/evolution", "internal/job", "internal/language", "internal/lock",
		"internal/redisclient", "internal/redisproxy", "internal/redisserver", "internal/trace", "internal/witness", "util/lua",
	},
	"lockstep/internal/cluster": {"internal/api", "internal/live", "internal/lock", "internal/witness"},
	"lockstep/internal/live": {
		"internal/api", "internal/dao", "internal/evolution", "internal/history", "internal/language", "internal/load", "internal/lock",
		"internal/service", "internal/strategy", "internal/trace", "internal/web", "internal/witness",
	},
	"lockstep/internal/explore": {
		"internal/explore/anomaly", "internal/explore/execution", "internal/explore/harness", "internal/explore/scenario",
		"internal/explore/search", "internal/strategy", "internal/trace",
	},
	"lockstep/internal/explore/graph": {
		"internal/explore", "internal/explore/anomaly", "internal/explore/execution", "internal/explore/harness",
		"internal/explore/search", "internal/explore/stepper", "internal/lock", "internal/strategy", "internal/trace",
	},
	"lockstep/internal/explore/stepper": {
		"internal/explore", "internal/explore/anomaly", "internal/explore/execution", "internal/explore/harness",
		"internal/explore/simredis", "internal/language", "internal/strategy", "internal/trace",
	},
	"lockstep/internal/explore/variants": { // for tests alone
		"internal/explore", "internal/lock", "internal/rediserr", "internal/strategy",
	},
	"lockstep/internal/explore/search": {
		"internal/explore/anomaly", "internal/explore/execution", "internal/language", "internal/trace",
	},
	"lockstep/internal/explore/harness": {
		"internal/dao", "internal/explore/anomaly", "internal/explore/checker", "internal/explore/coroutine",
		"internal/explore/execution", "internal/explore/recorder", "internal/explore/scenario", "internal/explore/simredis",
		"internal/history", "internal/language", "internal/lock", "internal/service", "internal/strategy", "internal/trace",
	},
	"lockstep/internal/explore/recorder": {
		"internal/dao", "internal/explore/checker", "internal/explore/execution", "internal/explore/simredis", "internal/language",
		"internal/lock", "internal/reason", "internal/trace", "util/lua",
	},
	"lockstep/internal/explore/checker": {
		"internal/explore/anomaly", "internal/explore/execution", "internal/explore/scenario", "internal/explore/simredis",
		"internal/history", "internal/lock", "internal/reason", "internal/strategy",
	},
	"lockstep/internal/explore/execution": {
		"internal/explore/coroutine", "internal/explore/scenario", "internal/explore/simredis", "internal/history", "internal/lock",
		"internal/strategy",
	},
	"lockstep/internal/explore/simredis":  {"internal/dao", "internal/history", "internal/redisclient"},
	"lockstep/internal/explore/scenario":  {"internal/language", "internal/lock", "internal/strategy"},
	"lockstep/internal/explore/anomaly":   {"internal/language", "internal/strategy"},
	"lockstep/internal/explore/coroutine": {},
	"lockstep/internal/config":            {"internal/history"},
	"lockstep/internal/course":            {"internal/language"},
	"lockstep/internal/doctor":            {"internal/language"},
	"lockstep/internal/pack":              {},
	"lockstep/docs":                       {},
	"lockstep/internal/api":               {"internal/evolution", "internal/history", "internal/lock", "internal/service"},
	"lockstep/internal/seat": {
		"internal/evolution", "internal/explore", "internal/explore/graph", "internal/explore/stepper", "internal/language",
		"internal/lock", "internal/strategy", "internal/trace", "internal/web",
	},
	"lockstep/internal/steps": {
		"internal", "internal/api", "internal/evolution", "internal/lab", "internal/language", "util/lua",
	},
	"lockstep/internal":         {},
	"lockstep/internal/web":     {"internal/language", "internal/trace"},
	"lockstep/internal/job":     {"internal/lock", "internal/rediserr"},
	"lockstep/internal/load":    {"internal/history"},
	"lockstep/internal/service": {"internal/history", "internal/lock", "internal/strategy"},
	"lockstep/internal/dao": {
		"internal/history", "internal/lock", "internal/redisclient", "internal/rediserr", "internal/service", "util/lua",
	},
	"lockstep/internal/evolution": {
		"internal/contrast", "internal/language", "internal/lock", "internal/lockv1", "internal/lockv10", "internal/lockv2",
		"internal/lockv3", "internal/lockv4", "internal/lockv5", "internal/lockv6", "internal/lockv7", "internal/lockv8",
		"internal/lockv9", "internal/redlock", "internal/strategy",
	},
	"lockstep/internal/contrast":        {"internal/lock", "internal/rediserr", "util/lua"},
	"lockstep/internal/lockv1":          {"internal/lock", "internal/rediserr"},
	"lockstep/internal/lockv2":          {"internal/lock", "internal/rediserr"},
	"lockstep/internal/lockv3":          {"internal/lock", "internal/rediserr"},
	"lockstep/internal/lockv4":          {"internal/lock", "internal/rediserr", "util/lua"},
	"lockstep/internal/lockv5":          {"internal/lock", "internal/rediserr", "util/lua"},
	"lockstep/internal/lockv6":          {"internal/lock", "internal/rediserr", "util/lua"},
	"lockstep/internal/lockv7":          {"internal/lock", "internal/rediserr", "util/lua"},
	"lockstep/internal/lockv8":          {"internal/lock", "internal/rediserr", "util/lua"},
	"lockstep/internal/lockv9":          {"internal/lock", "internal/rediserr", "util/lua"},
	"lockstep/internal/lockv10":         {"internal/lock", "internal/rediserr", "util/lua"},
	"lockstep/internal/redlock":         {"internal/lock", "internal/quorum", "util/lua"},
	"lockstep/internal/quorum":          {"internal/lock"},
	"lockstep/internal/metrics":         {"internal/history", "internal/service"},
	"lockstep/internal/lock":            {},
	"lockstep/internal/rediserr":        {"internal/lock"},
	"lockstep/internal/strategy":        {"internal/lock"},
	"lockstep/internal/history":         {},
	"lockstep/internal/trace":           {"internal/language"},
	"lockstep/internal/language":        {},
	"lockstep/internal/redistest":       {"internal/redisclient"}, // for tests alone
	"lockstep/internal/suite":           {},                       // for tests alone
	"lockstep/util/lua":                 {},
	"lockstep/internal/redisclient":     {},
	"lockstep/internal/redisproxy":      {},
	"lockstep/internal/redisserver":     {},
	"lockstep/internal/explore/verdict": {"internal/evolution", "internal/explore"},
	"lockstep/internal/classroom":       {"internal/api", "internal/course", "internal/language", "internal/lock"},
}

// Whoever else may import these.
var onlyThere = map[string][]string{
	"github.com/go-co-op/gocron/v2":                  {"lockstep/internal/job"},
	"github.com/prometheus/client_golang/prometheus": {"lockstep/internal/metrics"},
	"github.com/spf13/viper":                         {"lockstep/internal/config"},
	"github.com/gin-gonic/gin":                       {"lockstep/internal/api"},
	"github.com/spf13/cobra":                         {"lockstep/internal/cli"},
	"github.com/anishathalye/porcupine":              {"lockstep/internal/soak"},

	"github.com/redis/go-redis/v9/maintnotifications": {"lockstep/internal/redisclient"},
	"github.com/alicebob/miniredis/v2":                {"lockstep/internal/dao", "lockstep/internal/explore/simredis"},
}

func TestImportsFormTheHouse(t *testing.T) {
	command := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	decoder, seen := json.NewDecoder(output), 0
	for {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if exercise(pkg.ImportPath) {
			checkExercise(t, pkg.ImportPath, pkg.Imports)
			continue
		}
		seen++
		checkRoom(t, pkg.ImportPath, pkg.Imports)
	}
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	if seen != len(house) {
		t.Errorf("there are %d packages; the house has %d", seen, len(house))
	}
}

// The picture in docs/ARCHITECTURE.md has the house's arrows, and no others.
func TestThePictureIsTheHouse(t *testing.T) {
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, picture, _ := strings.Cut(string(text), "graph TD\n")
	picture, _, _ = strings.Cut(picture, "```")
	drawn := map[string][]string{}
	for line := range strings.Lines(picture) {
		from, to, arrow := strings.Cut(strings.TrimSpace(line), " --> ")
		if !arrow {
			t.Fatalf("what is %q?", line)
		}
		for room := range strings.SplitSeq(from, " & ") {
			drawn[room] = append(drawn[room], strings.Split(to, " & ")...)
		}
	}
	for room, imports := range house {
		name := path.Base(strings.Replace(room, "lockstep", "main", 1))
		var want []string
		for _, imported := range imports {
			want = append(want, path.Base(imported))
		}
		slices.Sort(want)
		got := drawn[name]
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the picture says that %s imports %v; the house says %v", name, got, want)
		}
	}
}

// exercises are no rooms: learners build them. They use what a lock needs, and nobody but tests uses them, since a learner's mistake must
// not keep lockstep from being built.
func exercise(room string) bool { return strings.HasPrefix(room+"/", "lockstep/exercises/") }

func checkExercise(t *testing.T, name string, imports []string) {
	t.Helper()
	for _, path := range imports {
		within, ours := strings.CutPrefix(path, "lockstep/")
		if ours && !slices.Contains([]string{"internal/lock", "internal/rediserr", "internal/strategy"}, within) {
			t.Errorf("%s imports %s: an exercise is a lock alone", name, path)
		}
	}
}

func checkRoom(t *testing.T, room string, imports []string) {
	t.Helper()
	allowed, known := house[room]
	if !known {
		t.Errorf("%s is not in the house", room)
	}
	var used []string
	for _, path := range imports {
		if within, ours := strings.CutPrefix(path, "lockstep/"); ours {
			used = append(used, within)
		}
		if rooms, kept := onlyThere[path]; kept && !slices.Contains(rooms, room) {
			t.Errorf("%s imports %s, which only %v may", room, path, rooms)
		}
		if room == "lockstep/internal/lock" && strings.Contains(path, ".") {
			t.Errorf("the contract imports %s: it is the standard library's alone", path)
		}
	}
	slices.Sort(used)
	if !slices.Equal(used, allowed) {
		t.Errorf("%s imports %v; the house says %v", room, used, allowed)
	}
}

var clientOptions = regexp.MustCompile(`redis\.(Universal|Cluster|Failover|Ring)?Options\{|maintnotifications\.Config\{`)

// Only internal/redisclient writes options of a Redis client down, for tests and the benchmark too: whoever does it anew forgets
// that no command may be repeated.
func TestRedisClientsHaveOneFactory(t *testing.T) {
	found := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, literal := range clientOptions.FindAllString(string(text), -1) {
			if found++; path.Dir(name) != "internal/redisclient" {
				t.Errorf("%s has %s…: make the client by internal/redisclient", name, literal)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("internal/redisclient has no options: does the pattern still fit?")
	}
}
