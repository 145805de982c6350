package server_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/server"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/util/lua"
)

// MONITOR shows of one sale what docs/running.md prints, and nothing more, once Redis knows the scripts by a sale before it.
func TestMonitorShowsTheCommandsOfOneSale(t *testing.T) {
	suite.Needs(t, "redis-server")
	t.Parallel()
	server := redisserver.Start(t)
	for lock, want := range saleCommands(t) {
		t.Run(lock, func(t *testing.T) {
			version, kept := strings.CutPrefix(lock, "kept ")
			s := shoptest.Start(t, "--redis.addrs", server.Addr)
			switch there := s.Own.Redis.Servers.CompareAndDelete; {
			case version != "delex":
			case there == "":
				t.Skipf("%s has no command for it", s.Own.Redis.Servers.Redis)
			case there == "DELEX":
				want = want[:len(want)-1]
			default:
				want = slices.Delete(want, len(want)-2, len(want)-1)
			}
			s.Switch(version)
			sell := func() {
				if status, code := s.Sell(); status != 200 {
					t.Fatalf("sale: %d %s", status, code)
				}
			}
			sell()
			var got []string
			suite.Eventually(t, "the lock is kept", func() bool { // for a while only: a busy machine may come too late
				got = sent(monitorAll(t, server.Addr, sell))
				isBeginning := slices.ContainsFunc(got, func(command string) bool { // to keep it: it listens once it has the lock
					return command == "EVAL acquireOrAsk.lua" || strings.HasPrefix(command, "SUBSCRIBE ")
				})
				return !kept || !isBeginning
			})
			if !slices.Equal(got, want) {
				t.Errorf("MONITOR shows\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			}
		})
	}
}

// saleCommands reads the table of docs/running.md: what one sale sends with each lock.
func saleCommands(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "### What one sale sends\n")
	section, _, _ = strings.Cut(section, "\n#")
	code := regexp.MustCompile("`([^`]+)`")
	all := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (.*`+"`"+`.*) \| (.*) \|$`).FindAllStringSubmatch(section, -1) {
		var commands []string
		for _, command := range code.FindAllStringSubmatch(row[2], -1) {
			commands = append(commands, command[1])
		}
		for _, lock := range code.FindAllStringSubmatch(row[1], -1) {
			name := lock[1]
			if strings.Contains(row[1], "kept") {
				name = "kept " + name
			}
			all[name] = commands
		}
	}
	if len(all) < 16 {
		t.Errorf("docs/running.md says of %d locks what a sale sends; want all of v0 to v11, and more", len(all))
	}
	return all
}

// sent returns the commands of clients that MONITOR shows, but for those that greet, heartbeats, and that a replica begins to listen to its
// peers. A script is called by its file.
func sent(lines []monitored) (commands []string) {
	for _, line := range lines {
		words := slices.Clone(line.words)
		words[0] = strings.ToUpper(words[0])
		if script := scriptOf(line); script != "" {
			words = []string{words[0], lua.File(script)}
		}
		command := strings.Join(words, " ")
		aside := []string{"EVALSHA beat.lua", "SUBSCRIBE {inventory}:call"}
		if !line.script && !slices.Contains(aside, command) && words[0] != "HELLO" && words[0] != "CLIENT" {
			commands = append(commands, command)
		}
	}
	return commands
}

// At rest a replica sends its heartbeat once a second, and nothing else.
func TestMonitorShowsOnlyHeartbeatsAtRest(t *testing.T) {
	t.Parallel()
	server := redisserver.Start(t)
	s := shoptest.Start(t, "--redis.addrs", server.Addr)
	shoptest.Start(t, "--redis.addrs", server.Addr)
	beats := func() (calls int64) {
		for line := range strings.Lines(s.Outside.Info(t.Context(), "commandstats").Val()) {
			_, _ = fmt.Sscanf(line, "cmdstat_evalsha:calls=%d", &calls)
		}
		return calls
	}
	first := beats()
	suite.Eventually(t, "each has beaten and listens", func() bool {
		return beats() >= first+2 && s.Outside.PubSubNumSub(t.Context(), "{inventory}:call").Val()["{inventory}:call"] == 2
	})
	began, seconds := time.Now(), 0
	lines := monitorAll(t, server.Addr, func() {
		first := beats()
		suite.Eventually(t, "each has beaten three times", func() bool { return beats() >= first+6 })
		seconds = int(time.Since(began)/time.Second) + 1
	})
	n := 0
	for _, line := range lines {
		switch {
		case line.script, line.words[0] == "info", line.words[0] == "hello": // of this test's connection
		case lua.File(scriptOf(line)) == "beat.lua":
			n++
		default:
			t.Errorf("at rest a replica sends %q", line.words)
		}
	}
	if n > 2*seconds {
		t.Errorf("two replicas sent %d heartbeats in %d seconds", n, seconds)
	}
}

// monitored is a line of MONITOR.
type monitored struct {
	script bool // a script has sent it
	words  []string
}

// scriptOf returns the script that a line runs, "" if none.
func scriptOf(line monitored) string {
	if len(line.words) < 2 {
		return ""
	}
	return lua.SentScript(line.words[0], line.words[1])
}

// monitorAll gives what MONITOR shows while something happens, owners abbreviated.
func monitorAll(t *testing.T, addr string, during func()) (lines []monitored) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	shown := bufio.NewReader(conn)
	fmt.Fprint(conn, "MONITOR\r\n")
	if answer, err := shown.ReadString('\n'); err != nil || answer != "+OK\r\n" {
		t.Fatalf("MONITOR: %q, %v", answer, err)
	}
	during()
	other, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	fmt.Fprint(other, "ECHO over\r\n")

	owner := regexp.MustCompile(`distributedLock:[-0-9a-f]{36}`)
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	for {
		text, err := shown.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(text, "[0 ")
		source, command, _ := strings.Cut(rest, "] ")
		line := monitored{script: source == "lua"}
		for _, word := range quoted.FindAllString(command, -1) {
			if word, err = strconv.Unquote(word); err != nil {
				t.Fatalf("MONITOR shows %s: %v", text, err)
			}
			line.words = append(line.words, owner.ReplaceAllString(word, "OWNER"))
		}
		if slices.Equal(line.words, []string{"ECHO", "over"}) {
			return lines
		}
		lines = append(lines, line)
	}
}

// On a Redis without the command delex is refused, and the message says which server this is and what it lacks.
func TestDelexIsRefusedWithoutItsCommand(t *testing.T) {
	t.Parallel()
	s := shoptest.Start(t, "--redis.addrs", redisserver.Start(t).Addr)
	if there := s.Own.Redis.Servers; there.CompareAndDelete != "" {
		t.Skipf("%s has it: what a sale sends is shown by TestMonitorShowsTheCommandsOfOneSale", there.Redis)
	}
	says := "DELEX (Redis 8.4 or newer) or DELIFEQ (Valkey 9 or newer), and " + s.Own.Redis.Servers.Redis + " has neither"
	var answer api.ErrorAnswer
	status := s.Ask("PUT", "/lock", `{"version":"delex"}`, &answer)
	if status != 409 || answer.Error.Code != "no_command" || !strings.HasSuffix(answer.Error.Message, says) || s.Report().Lock != "v0" {
		t.Errorf("PUT /lock: %d %+v; want 409 no_command, …%s", status, answer.Error, says)
	}
	cfg := s.Config
	cfg.Server.Addr, cfg.Settings.Lock = shoptest.AnyPort, "delex"
	if _, err := server.Open(t.Context(), cfg, server.Options{}); err == nil || !strings.HasSuffix(err.Error(), says) {
		t.Errorf("at the start: %v; want …%s", err, says)
	}
}

// A shop that is shown sends Redis the same commands about the lock as one that nobody watches, and about the stock only looks more.
func TestMonitorShowsNoCostOfFollowers(t *testing.T) {
	suite.Needs(t, "redis-server")
	t.Parallel()
	server := redisserver.Start(t)
	s := shoptest.Start(t, "--redis.addrs", server.Addr, "--lock.version", "v3")
	sales := func(key string) []string {
		shown := sent(monitorAll(t, server.Addr, func() {
			for range 5 {
				if status, code := s.Sell(); status != 200 {
					t.Fatalf("sale: %d %s", status, code)
				}
			}
		}))
		return slices.DeleteFunc(shown, func(command string) bool { return !strings.Contains(command, " "+key) })
	}
	unwatched := sales("distributedLock")
	watcher := s.Watch()
	watcher.AwaitText("event: run")
	if watched := sales("distributedLock"); !slices.Equal(watched, unwatched) {
		t.Errorf("watched, the shop sends\n%v\nand unwatched\n%v", watched, unwatched)
	}
	suite.Eventually(t, "the sales are shown", func() bool { return strings.Count(watcher.String(), `{"sale":"`) >= 5 })
}
