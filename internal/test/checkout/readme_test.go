package checkout

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/suite"
)

var (
	readmes = []string{"README.md", "README.zh-CN.md"}
	running = []string{"docs/running.md", "docs/running.zh-CN.md"}
)

// A reader who types every command of the README, and of the page on running it, gets what they say.
func TestReadmeCommands(t *testing.T) {
	suite.Needs(t, "sh")
	t.Parallel() // it waits for jobs and sales
	port, redisPort := redisserver.FreePort(t), redisserver.FreePort(t)
	moved := strings.NewReplacer("8080", port, "6380", redisPort)
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool { // the developer's own settings
		name, _, _ := strings.Cut(variable, "=")
		return suite.IsSetting(name)
	})
	env = append(env, "LOCKSTEP_SERVER_ADDR=127.0.0.1:"+port, "LOCKSTEP_REDIS_EMBEDDED_ADDR=127.0.0.1:"+redisPort)

	all := append(typed(t, readmes[0]), typed(t, running[0])...)
	program := build(t, "")
	serve(t, program, env)
	for _, command := range all[len(twoCommands):] { // the first is served, and the second runs this
		line := strings.ReplaceAll(moved.Replace(command.text), "mvn -q -f jmeter verify", "mvn -B -q -f jmeter verify -Dport="+port)
		t.Run(line, func(t *testing.T) {
			_, explores, _ := strings.Cut(line, "go run . ")
			if slices.Contains(longCommands, explores) {
				t.Skip("TestDocumentsShowWhatIsPrinted runs it, in the long suite")
			}
			tool := strings.Fields(line)[0]
			suite.Needs(t, tool)
			if tool == "mvn" && os.Getenv("CI") == "" {
				t.Skip("mvn would download JMeter; this is run in CI")
			}
			if explores != "lab" { // one of them is built by go run; the others are the same program
				line = strings.Replace(line, "go run .", program, 1)
			}
			shell := exec.CommandContext(t.Context(), "sh", "-c", line)
			shell.Env = env
			output, err := shell.CombinedOutput()
			if got := shell.ProcessState.ExitCode(); got != command.exits {
				t.Errorf("exit code %d, %v; want %d\n%s", got, err, command.exits, output)
			}
			if strings.Contains(string(output), `"error"`) {
				t.Errorf("%s", output)
			}
		})
	}
}

// twoCommands do all the set-up that they need: one runs the main job, one passes the tests.
var twoCommands = []typedLine{{text: "go run ."}, {text: "go test ./..."}}

// Both READMEs begin with the two commands.
func TestReadmeBeginsWithTwoCommands(t *testing.T) {
	for _, readme := range readmes {
		if got := typed(t, readme)[:len(twoCommands)]; !slices.Equal(got, twoCommands) {
			t.Errorf("%s begins with %v; want %v", readme, got, twoCommands)
		}
	}
}

// serve runs the program in an environment until the test ends.
func serve(t *testing.T, program string, env []string) {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, program)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 20 * time.Second
	command.Env = env
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		end()
		_ = command.Wait() // says that we ended it
		if code := command.ProcessState.ExitCode(); code != 0 {
			t.Errorf("the server ended with exit code %d", code)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "lockstep: http://127.0.0.1:") || !strings.Contains(line, "lock v0 (no lock) · embedded Redis") {
		t.Fatalf("the first line is %q, %v", line, err)
	}
}

// Every file a document points at is there.
func TestLinksLeadToFiles(t *testing.T) {
	for _, document := range documents() {
		text := read(t, document)
		for _, link := range regexp.MustCompile(`\]\((?:https?:[^)]*|([^)#]+)[^)]*)\)`).FindAllStringSubmatch(text, -1) {
			if link[1] == "" {
				continue // the web
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(document), link[1])); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
	}
}
