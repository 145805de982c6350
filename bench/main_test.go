package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
	"lockstep/internal/test/suite"
)

func TestInvalidFlagsAreRefused(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{args: "-buyers 0", want: `-buyers: "0": want whole numbers from 1 to 10000`},
		{args: "-buyers 16,many", want: `-buyers: "many": want`},
		{args: "-buyers=", want: `-buyers: "": want`},
		{args: "-processes 17", want: `-processes: "17": want whole numbers from 1 to 16`},
		{args: "-delays 1", want: `-delays: "1": want durations from 0s to 1s, such as 1ms`},
		{args: "-delays -1ms", want: `-delays: "-1ms": want`},
		{args: "-contestants v4,v44", want: `-contestants: there is no such contestant: "v44"; there are limit, v1,`},
		{args: "-repeat 0", want: "-repeat: 0 is not from 1 to 100"},
		{args: "-pool -1", want: "-pool: -1 is not from 0"},
		{args: "-rest 2s", want: "-rest: 2s is not from 0s to 1s"},
		{args: "-shortest 1ms", want: "-shortest: 1ms is not 50ms or more"},
		{args: "-longest 1s", want: "-longest: 1s is not from twice -shortest to 1m"},
		{args: "-nope", want: "not defined: -nope; bench -help lists the flags"},
		{args: "faster", want: `"faster" is not a flag`},
		{args: "-json /no/such/folder/file", want: "/no/such/folder/file: no such file"},
		{args: "-redis 127.0.0.1:1", want: "no Redis answers at 127.0.0.1:1"},
		{args: "-buyers 0 -repeat 0", want: "-repeat: 0 is not"},
	} {
		t.Run(test.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), strings.Fields(test.args), contestants.Table(), nil, &stdout, &stderr)
			if code != 2 || !strings.Contains(stderr.String(), test.want) || stdout.Len() > 0 {
				t.Errorf("bench %s: exit %d, %q; want 2, …%s…", test.args, code, stderr.String(), test.want)
			}
		})
	}
}

// The commands in docs/benchmarks.md are valid.
func TestCommandsOfPageAreValid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "cd bench\n")
	if !found {
		t.Fatal("no command of bench")
	}
	commands, _, _ := strings.Cut(after, "```")
	for command := range strings.Lines(commands) {
		args := strings.TrimPrefix(strings.TrimSpace(command), "go run . ")
		if _, err := parse(strings.Fields(args), contestants.Table(), io.Discard); err != nil && !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: got %v, want valid flags", command, err)
		}
	}
}

// -steps selects all steps under the conditions of their figures, unless flags say otherwise.
func TestStepsFlagSelectsContestantsAndConditions(t *testing.T) {
	for args, want := range map[string]string{
		"-steps f": "limit v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 v11 redlock delex segmented [1 16 200] [1 3] [1] 3",
		"-steps f -markdown m -repeat 5": "limit v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 v11 redlock redislock redsync rueidislock delex " +
			"segmented atomic optimistic [1 16 200] [1 3] [1] 5",
		"-steps f -contestants v4 -buyers 2": "limit v4 [2] [1 3] [1] 3",
		"-contestants v4,delex -repeat 1":    "limit v4 delex [1 2 16 200 1000] [1 3] [1 0] 1",
		"": "limit v4 v6 v7 v8 v9 v10 v11 redlock redislock redsync rueidislock " +
			"segmented atomic optimistic [1 2 16 200 1000] [1 3] [1 0] 3",
	} {
		t.Run(args, func(t *testing.T) {
			o, err := parse(strings.Fields(args), contestants.Table(), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, c := range o.plan.Contestants {
				names = append(names, c.Name)
			}
			got := fmt.Sprint(strings.Join(names, " "), " ", o.plan.Buyers, o.plan.Processes, o.plan.AddedMillis, " ", o.plan.Repeat)
			if got != want {
				t.Errorf("bench %s measures %s; want %s", args, got, want)
			}
		})
	}
}

func TestHelpListsFlags(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-help"}, contestants.Table(), nil, &stdout, &stderr); code != 0 {
		t.Errorf("got exit code %d: %s, want 0", code, stderr.String())
	}
	for _, want := range []string{"-contestants names", "-markdown file", "rueidislock-noloop", `default "1ms,0s"`, `default "1,2,16,`} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the help does not say %q:\n%s", want, stdout.String())
		}
	}
}

func TestWorkerRefusesInvalidJob(t *testing.T) {
	for input, want := range map[string]string{
		"":                   "reading the job: EOF",
		"{":                  "reading the job: unexpected EOF",
		`{"contestant":"x"}`: `there is no such contestant: "x"`,
		`{"contestant":"limit","addrs":["127.0.0.1:1"]}`: "PING 127.0.0.1:1",
	} {
		t.Run(input, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"worker"}, contestants.Table(), strings.NewReader(input), &stdout, &stderr)
			if code != 2 || !strings.Contains(stderr.String(), want) {
				t.Errorf("exit %d, %q; want %q", code, stderr.String(), want)
			}
		})
	}
}

func TestRunWritesAllOutputs(t *testing.T) {
	suite.Needs(t, "redis-server")
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("b.md"), bytes.Repeat([]byte("an older and longer one\n"), 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{
		"-contestants", "v10,redislock", "-buyers", "1,4", "-processes", "1,2", "-delays", "1ms", "-repeat", "2", "-shortest", "500ms",
		"-json", file("b.json"), "-svg", file("b.svg"), "-markdown", file("b.md"),
	}, contestants.Table(), nil, &stdout, &stderr)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	for _, want := range []string{"PING with 1 ms added", "1 MS ADDED, 2 PROCESSES", "share of the limit", "redislock", "Goals"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, stdout.String())
		}
	}
	checkJSON(t, file("b.json"))
	checkSVG(t, file("b.svg"))
	markdown, err := os.ReadFile(file("b.md"))
	if err != nil || bytes.Contains(markdown, []byte("an older")) {
		t.Errorf("reading the document: got %v and old text, want it replaced", err)
	}
	for _, want := range []string{
		"# Benchmarks", "Go 1.", "Redis ", "| buyers | share, 4 | requests, 4 |", "## How to read it", "go run . -contestants v10,redislock",
	} {
		if !strings.Contains(string(markdown), want) {
			t.Errorf("the document does not say %q:\n%s", want, markdown)
		}
	}
}

func checkJSON(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var measured result.Run
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&measured); err != nil {
		t.Fatal(err)
	}
	if len(measured.Cells) != 2*3*3 { // repetitions, conditions (one buyer has no two processes), contestants
		t.Errorf("got %d cells, want 18", len(measured.Cells))
	}
	if m := measured.Machine; m.Cores == 0 || m.CPU == "" || m.Go == "" || m.Redis == "" || m.Kernel == "" {
		t.Errorf("got the machine %+v, want no empty field", m)
	}
	for _, c := range measured.Cells {
		if c.Status != result.OK || c.Sales == 0 || c.PerSecond == 0 || c.Requests == 0 || c.Share == 0 || c.Repetition == 0 {
			t.Errorf("got %+v, want a valid cell without zeros", c)
		}
	}
	for _, field := range []string{"contestant", "kind", "added_ms", "processes", "buyers", "repetition", "status", "sales_per_second",
		"share_of_limit", "requests_per_sale", "lock_requests_per_sale", "publishes_per_sale", "p50", "p99", "max", "mean",
		"max_over_mean", "never", "pings"} {
		if !bytes.Contains(text, []byte(`"`+field+`":`)) {
			t.Errorf("got no field %s, want it", field)
		}
	}
}

func checkSVG(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	texts := ""
	for decoder := xml.NewDecoder(file); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			texts += string(data)
		}
	}
	for _, want := range []string{
		"share of the limit: 1 ms added, one process", "longest wait over mean: 1 ms added, 2 processes", "redislock",
	} {
		if !strings.Contains(texts, want) {
			t.Errorf("the plot does not say %q", want)
		}
	}
}
