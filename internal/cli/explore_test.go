package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
)

func TestExploreExitCodes(t *testing.T) {
	for line, want := range map[string]struct {
		code   int
		prints string // part of stdout or stderr
	}{
		"explore v4":                                     {0, "v4 never shows an anomaly: every schedule was explored (2 actors)."},
		"explore v2 --faults expiry=1":                   {1, `lockstep explore v2 --faults expiry=1 --replay "A:SET expiry B:SET"`},
		"explore v4 --actors 4 --max-schedules 100":      {2, "No schedule has shown an anomaly (--actors 4), but"},
		"explore v4 --max-time 1ns":                      {2, "ended early: 1ns"},
		"explore --help":                                 {0, "(default 10m0s)"},
		"explore v4 --actors 4 --max-memory 1":           {2, "ended early: 1 MB of memory"},
		"explore local --replicas 1":                     {0, "local never shows an anomaly"},
		"explore v2 --faults expiry=1 --mermaid":         {1, "sequenceDiagram\n  participant A\n"},
		"explore v4 --faults crash=1 --freed-within 1ns": {1, "fewer: a lock stays for longer than 1ns, although no sale holds it."},
		"explore v5 --try 1 --work 5s --nested 1":        {0, "(2 actors --try 1 --nested 1 --work 5s)"},
	} {
		t.Run(line, func(t *testing.T) { // not in parallel: each exploration limits the memory of the process
			code, stdout, stderr := command(t, strings.Fields(line)...)
			if code != want.code || !strings.Contains(stdout+stderr, want.prints) {
				t.Errorf("exit code %d, %s%s; want %d and %q", code, stdout, stderr, want.code, want.prints)
			}
		})
	}
}

func TestExploreRejectsWrongArguments(t *testing.T) {
	assertRefusedLater(t, map[string]string{
		"explore":                             "which lock? Name one of v0, v1",
		"explore v99":                         `there is no such lock: "v99"; there are v0, v1`,
		"explore v1 v2":                       "accepts at most 1 arg",
		"explore v2 --faults expiry":          `faults: "expiry"; it takes NAME=TIMES, as in expiry=1,crash=1`,
		"explore v2 --faults expiry=-1":       `faults: "expiry=-1"; it takes NAME=TIMES`,
		"explore v2 --faults expiry=1,":       `faults: ""; it takes NAME=TIMES`,
		"explore v2 --faults crash=1,crash=0": "faults: crash is given twice",
		"explore v2 --replay ":                "--replay: the schedule is empty; want steps",
		"explore v2 --step --replay ":         "--replay: the schedule is empty; want steps",
		"explore v2 --against v3 --replay ":   "--replay: the schedule is empty; want steps",
		"explore v2 --replay expiry":          "lockstep: step 1, expiry: it needs --faults expiry=1",
		"explore v2 --sales 0":                "sales: 0; it takes 1 to 100",
		"explore v2 --overtakes 0":            "overtakes: 0; it takes 1 to 2600",
		"explore v2 --work 1000h":             "work: 1000h0m0s; it takes 0 to less than 1000h",
		"explore v2 --faults expiry=101":      "faults: expiry=101; it takes 0 to 100 times",
		"explore --all --sales 2":             "--all has scenarios of its own",
		"explore v2 --nested 100000000":       "nested: 100000000; it takes 0 to 100",
		"explore v2 --faults fire=1":          `faults: there is no "fire"; there are expiry, slow, pause, crash,`,
		"explore v2 --actors 0":               "actors: 0; it takes 1 to 26",
		"explore v2 --actors 27":              "actors: 27; it takes 1 to 26",
		"explore v2 --replicas 3":             "replicas: 3; it takes 1 to 2",
		"explore v2 --try 3":                  "try: 3; it takes 0 to 2",
		"explore v2 --nested -1":              "nested: -1; it takes 0 to 100",
		"explore v2 --work -1s":               "work: -1s; it takes 0 to",
		"explore v2 --skew -1s":               "skew: -1s; it takes 0 to",
		"explore v2 --max-schedules -1":       "max-schedules: -1 is less than none",
		"explore v2 --max-memory -1":          "max-memory: -1; it takes 0 to 1048576 MB",
		"explore v2 --max-time -1s":           "max-time: -1s is less than none",
		"explore v2 --anomaly speed":          `anomaly: there is no "speed"; there are two-holders, lost-update`,
		"explore v2 --anomaly untolt":         "untold",
		"explore v0 --anomaly two-holders":    "anomaly: v0 does not promise that two-holders never happens",
		"explore v6 --anomaly starved --why":  "--why does not apply to starved",
		"explore v2 --json --mermaid":         "--mermaid and --json cannot be combined",
		"explore v2 --lock.ttl 5s":            "--lock.ttl: explore takes no settings",
		"explore --all v2":                    `--all explores every lock: leave out "v2"`,
		"explore --all --faults crash=1":      "--all has scenarios of its own",
		"explore --all --why":                 "--all has scenarios of its own",
		"explore v2 --step --why":             "--step shows each step by itself",
		"explore v2 --step --json":            "--step shows each step by itself",
		"explore v2 --against v3 --mermaid":   "--against prints two schedules side by side",
		"explore v2 --against v99":            `there is no such lock: "v99"`,
		"explore v2 --replay A:SETT":          "step 1, A:SETT: the schedule does not fit the code: the next step of A is SET, not SETT",
		"explore v2 --replay nonsense":        "step 1, nonsense: not a step",
		"explore v2 --replay A:GET --json":    "the schedule does not fit the code",
	})
}

func TestExploreReplaysSchedules(t *testing.T) {
	code, stdout, _ := command(t, "explore", "v2", "--faults", "expiry=1", "--replay", "A:SET expiry B:SET")
	if code != exitBroken || !strings.Contains(stdout, "[lock: B, for 10s; stock: 100; at 10s]") ||
		!strings.Contains(stdout, "step 3 shows two-holders: A and B are both in the critical section") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	if code, stdout, _ := command(t, "explore", "v2", "--replay", "A:SET A:GET"); code != exitOK ||
		!strings.Contains(stdout, "This schedule shows no anomaly.") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	var doc struct {
		Steps []map[string]any
		Shown []struct {
			Anomaly string
			Step    int
		}
	}
	_, stdout, _ = command(t, "explore", "v2", "--faults", "expiry=1", "--replay", "A:SET expiry B:SET", "--json")
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Steps) != 3 || len(doc.Shown) != 1 ||
		doc.Shown[0].Step != 3 || doc.Shown[0].Anomaly != "two-holders" {
		t.Errorf("%v: %s", err, stdout)
	}
}

// With --each, the exploration continues after the first anomaly, and shows the shortest schedule of each.
func TestExploreEachShowsEveryAnomaly(t *testing.T) {
	code, stdout, _ := command(t, "explore", "v2", "--faults", "expiry=1", "--each", "--json")
	var doc struct {
		Complete        bool
		Counterexample  report.Counterexample
		Counterexamples []report.Counterexample
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exitBroken || !doc.Complete {
		t.Fatalf("exit code %d, %v: %s", code, err, stdout)
	}
	found := map[explore.Anomaly]int{}
	for _, e := range doc.Counterexamples {
		found[e.Anomaly] = e.Length
		if len(e.Steps) != e.Length {
			t.Errorf("%s has %d steps; want %d", e.Anomaly, len(e.Steps), e.Length)
		}
	}
	if doc.Counterexample.Anomaly != anomaly.TwoHolders || found[anomaly.TwoHolders] != 3 || found[anomaly.ForeignRelease] != 6 ||
		found[anomaly.LostUpdate] != 7 {
		t.Errorf("the first is %s, and all are %v; want two-holders, foreign-release and lost-update", doc.Counterexample.Anomaly, found)
	}
	_, stdout, _ = command(t, "explore", "v2", "--faults", "expiry=1", "--each", "--max-schedules", "50")
	for _, says := range []string{
		"v2 shows two-holders in 3 steps", "v2 shows untold in 4 steps",
		"v2 (2 actors --faults expiry=1) shows two-holders in 3 steps, untold in 4 steps. " +
			"There may be more: the exploration ended early: 50 schedules.\n",
	} {
		if !strings.Contains(stdout, says) {
			t.Errorf("%q is not in %s", says, stdout)
		}
	}
	code, _, stderr := command(t, "explore", "v2", "--each", "--anomaly", "stuck")
	if code != exitTrouble || !strings.Contains(stderr, "leave out --anomaly") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// The document of --json has the promised fields, and nothing else is printed on stdout.
func TestExploreJSONIsComplete(t *testing.T) {
	code, stdout, _ := command(t, "explore", "v2", "--faults", "expiry=1", "--json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exitBroken {
		t.Fatalf("exit code %d, %v: %s", code, err, stdout)
	}
	for _, key := range []string{
		"lock", "actors", "faults", "schedules", "states", "complete", "seconds", "verdict", "counterexample", "counterexamples",
	} {
		if _, has := doc[key]; !has {
			t.Errorf("no %q in %s", key, stdout)
		}
	}
	found, _ := doc["counterexample"].(map[string]any)
	steps, _ := found["steps"].([]any)
	if doc["verdict"] != "broken" || found["anomaly"] != "two-holders" || found["length"] != 3. ||
		found["schedule"] != "A:SET expiry B:SET" || len(steps) != 3 {
		t.Fatalf("%s", stdout)
	}
	step, _ := steps[2].(map[string]any)
	if step["actor"] != "B" || step["kind"] != "command" || step["reply"] != "OK" ||
		step["command"] != "SET distributedLock 1 ex 10 NX" || step["lock"] != "B" || step["at_ms"] != 10000. {
		t.Errorf("the third step is %v", step)
	}
	if _, stdout, _ := command(t, "explore", "v4", "--json"); !strings.Contains(stdout, `"counterexample": null`) ||
		!strings.Contains(stdout, `"cut": []`) {
		t.Errorf("%s", stdout)
	}
}
