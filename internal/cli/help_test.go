package cli

import (
	"runtime/debug"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/test/shoptest"
)

// The help of a command lists its own flags within helpWidth columns. The settings are listed in their own topic.
func TestHelpShowsOwnFlagsAndFitsItsWidth(t *testing.T) {
	root := newRoot("go run .")
	var all func(cmd *cobra.Command, above ...string)
	all = func(cmd *cobra.Command, above ...string) {
		var help strings.Builder
		if code := (Program{Name: "go run ."}).Run(t.Context(), append(above, "--help"), &help, &help); code != exitOK {
			t.Errorf("%v --help: exit code %d", above, code)
		}
		lines := strings.Split(help.String(), "\n")
		for _, line := range lines {
			if utf8.RuneCountInString(line) > helpWidth && (len(above) == 0 || above[0] != "completion") { // cobra writes that one
				t.Errorf("%v --help: %d columns: %s", above, utf8.RuneCountInString(line), line)
			}
			if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "lockstep" && len(fields) > 1 && fields[1] != "sells" {
				t.Errorf("%v --help does not name the program as it was typed: %s", above, line)
			}
		}
		if has := strings.Contains(help.String(), "--redis.addrs "); has != (cmd.Name() == settingsTopic) {
			t.Errorf("%v --help lists the settings: %v", above, has)
		}
		_, none := cmd.Annotations[noSettings]
		wants := !none && cmd.Name() != settingsTopic
		if names := strings.Contains(help.String(), "are listed by: go run . help settings"); names != wants {
			t.Errorf("%v --help says where the settings are: %v", above, names)
		}
		for _, command := range cmd.Commands() {
			all(command, append(above[:len(above):len(above)], command.Name())...)
		}
	}
	all(root)
	_, settings, _ := command(t, "help", settingsTopic)
	for _, want := range []string{"--config ", "--redis.tls_ca ", "--sale.nested ", "--log.level ", "LOCKSTEP_LOCK_TTL=5s", "(default 30s)"} {
		if !strings.Contains(settings, want) {
			t.Errorf("help settings does not say %s:\n%s", want, settings)
		}
	}
	_, explored, _ := command(t, "explore", "--help")
	for _, fault := range explore.FaultNames() {
		if !strings.Contains(explored, "\n  "+fault+" ") {
			t.Errorf("explore --help does not say what %s is", fault)
		}
	}
}

// The commands in hints begin with the program name as it was typed.
func TestHintsShowTheTypedProgramName(t *testing.T) {
	for typed, args := range map[string][]string{
		"go run . explore v2 --faults expiry=1 --replay": {"explore", "v2", "--faults", "expiry=1"},
		"with: go run . serve":                           {"burst", "--target", "http://" + shoptest.UnusedAddr(t)},
		"go run . burst --help lists all flags":          {"burst", "--xyzzy"},
		"for \"go run .\"":                               {"xyzzy"},
	} {
		var out strings.Builder
		Program{Name: "go run ."}.Run(t.Context(), args, &out, &out)
		if !strings.Contains(out.String(), typed) {
			t.Errorf("%v does not say %q:\n%s", args, typed, out.String())
		}
	}
}

func TestTypedReturnsTheCommandOfAnExecutable(t *testing.T) {
	const hash = "554581a6c4c0b19cef577b576fcd2982e1c5b2e2995ff802142a6e9fcf55ad8c"
	for arg0, want := range map[string]string{
		"lockstep": "lockstep", "./lockstep": "./lockstep", "/usr/bin/lockstep": "/usr/bin/lockstep", "": "lockstep",
		"/home/exe/lockstep":                                   "/home/exe/lockstep",
		"/tmp/go-build2305092169/b001/exe/lockstep":            "go run .",
		"/home/ada/.cache/go-build/55/" + hash + "-d/lockstep": "go run .",
		"/cache/55/" + hash + "-d/lockstep":                    "go run .",
	} {
		if got := Typed(arg0); got != want {
			t.Errorf("%s was typed as %s; want %s", arg0, got, want)
		}
	}
}

func TestUnknownNamesGetSuggestions(t *testing.T) {
	assertRefused(t, map[string]string{
		"brust":                          `unknown command "brust" for "lockstep"; did you mean burst?`,
		"burst --lock v44":               `setex; did you mean v4?`,
		"job --lock redlok":              `did you mean redlock?; and none`,
		"job --lock v66":                 `did you mean v6?; and none`,
		"explore V4":                     `did you mean v4?`,
		"explore optimistik":             `did you mean optimistic?`,
		"explore v2 --faults expire=1":   `did you mean expiry?`,
		"explore v2 --anomaly untld":     `did you mean untold?`,
		"burst --min-answer 1":           `unknown flag: --min-answer; did you mean --min-answered?`,
		"serve --ttl 1s":                 `unknown flag: --ttl; did you mean --lock.ttl?`,
		"serve --lock.verson v4":         `did you mean --lock.version?`,
		"burst -x":                       `unknown flag: -x; flags of more than one letter begin with two dashes; lockstep burst --help lists`,
		"explore v2 --faults=crash=1,xx": `faults: "xx"; it takes NAME=TIMES`,
	})
}

// The completion offers all names; the shell itself drops those that do not match.
func TestCompletionOffersNames(t *testing.T) {
	locks := strings.Join(evolution.Names(), "\n") + "\n"
	for line, want := range map[string]string{
		"burst --lock |":          locks + ":4",
		"cluster --lock |":        locks + ":4",
		"serve --lock.version |":  locks + ":4",
		"job --lock |":            locks + "none\n:4",
		"explore |":               locks + ":4",
		"explore v4 |":            ":4",
		"diff v6 |":               "v7\n:4",
		"burst |":                 ":4",
		"explore v4 --anomaly |":  strings.Join(anomalyNames(), "\n") + "\n:4",
		"explore v4 --faults |ex": "expiry=1\nslow=1\n",
		"explore v4 --faults |expiry=2,slow=1,cr": "expiry=2,slow=1,pause=1\nexpiry=2,slow=1,crash=1\n",
		"serve --log.level |":                     "debug\ninfo\nwarn\nerror\n:4",
		"serve --config |":                        ":0",
	} {
		_, stdout, _ := command(t, append([]string{"__complete"}, strings.Split(strings.Replace(line, "|", "", 1), " ")...)...)
		if !strings.HasPrefix(stdout, want) {
			t.Errorf("%s is completed with\n%swant\n%s", line, stdout, want)
		}
	}
}

func TestVersionShowsRevisionAndGo(t *testing.T) {
	code, stdout, _ := command(t, "--version")
	if code != exitOK || !strings.HasPrefix(stdout, "lockstep ") || !strings.Contains(stdout, "go1.") || strings.Count(stdout, "\n") != 1 {
		t.Errorf("exit code %d, %s", code, stdout)
	}
	build := &debug.BuildInfo{GoVersion: "go1.26.8", Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "56bbd1b"}, {Key: "vcs.time", Value: "2026-11-20T10:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	build.Main.Version = "v1.2.3"
	if got := version(build); !strings.HasPrefix(got, "v1.2.3, revision 56bbd1b, modified, of 2026-11-20T10:00:00Z, go1.26.8 ") {
		t.Errorf("%s", got)
	}
	if got := version(&debug.BuildInfo{}); !strings.HasPrefix(got, "(devel), go") {
		t.Errorf("%s", got)
	}
}
