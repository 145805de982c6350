package cli

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

	"lockstep/internal/test/redistest"
	"lockstep/util/lua"
)

// MONITOR shows of one sale what docs/running.md prints, and nothing more.
func TestMonitorShowsOneSale(t *testing.T) {
	server := redistest.Start(t)
	for lock, want := range saleCommands(t) {
		t.Run(lock, func(t *testing.T) {
			version, kept := strings.CutPrefix(lock, "kept ")
			s := start(t, "--redis.addrs", server.Addr)
			switch there := s.Redis.Servers.CompareAndDelete; {
			case version != "delex":
			case there == "":
				t.Skipf("%s has no command for it", s.Redis.Servers.Redis)
			case there == "DELEX":
				want = want[:len(want)-1]
			default:
				want = slices.Delete(want, len(want)-2, len(want)-1)
			}
			s.ask("PUT", "/lock", fmt.Sprintf(`{"version":%q}`, version), nil)
			sell := func() {
				if status, code := s.sell(); status != 200 {
					t.Fatalf("sale: %d %s", status, code)
				}
			}
			if kept {
				eventually(t, "the lock is kept", func() bool {
					sell()
					return s.outside.Exists(t.Context(), "distributedLock").Val() == 1
				})
			}
			if got := sent(monitorAll(t, server.Addr, sell)); !slices.Equal(got, want) {
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

// sent returns the commands of clients that MONITOR shows, but for those that greet, and heartbeats. A script is called by its file.
func sent(lines []monitored) (commands []string) {
	for _, line := range lines {
		words := slices.Clone(line.words)
		words[0] = strings.ToUpper(words[0])
		if words[0] == "EVAL" {
			words = []string{"EVAL", lua.File(words[1])}
		}
		if command := strings.Join(words, " "); !line.script && command != "EVAL beat.lua" && words[0] != "HELLO" && words[0] != "CLIENT" {
			commands = append(commands, command)
		}
	}
	return commands
}

// At rest a replica sends its heartbeat once a second, and nothing else.
func TestMonitorAtRest(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := start(t, "--redis.addrs", server.Addr)
	start(t, "--redis.addrs", server.Addr)
	beats := func() (calls int64) {
		for line := range strings.Lines(s.outside.Info(t.Context(), "commandstats").Val()) {
			_, _ = fmt.Sscanf(line, "cmdstat_eval:calls=%d", &calls)
		}
		return calls
	}
	first := beats()
	eventually(t, "each has beaten and listens", func() bool {
		return beats() >= first+2 && s.outside.PubSubNumSub(t.Context(), "{inventory}:call").Val()["{inventory}:call"] == 2
	})
	began, seconds := time.Now(), 0
	lines := monitorAll(t, server.Addr, func() {
		first := beats()
		eventually(t, "each has beaten three times", func() bool { return beats() >= first+6 })
		seconds = int(time.Since(began)/time.Second) + 1
	})
	n := 0
	for _, line := range lines {
		switch {
		case line.script, line.words[0] == "info", line.words[0] == "hello": // of this test's connection
		case strings.EqualFold(line.words[0], "eval") && lua.File(line.words[1]) == "beat.lua":
			n++
		default:
			t.Errorf("at rest a replica sends %q", line.words)
		}
	}
	if n > 2*seconds {
		t.Errorf("two replicas sent %d heartbeats in %d seconds", n, seconds)
	}
}

func TestRenewalKeepsTheLockForThreeExpiries(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := start(t, "--redis.addrs", server.Addr, "--lock.version", "v6", "--lock.ttl", "1s", "--sale.think_time", "3s")
	var lines []string
	status, code := 0, "lock_lost"
	for attempt := 0; attempt < 3 && code == "lock_lost"; attempt++ { // as it is by right if the machine stalls for an expiry
		lines = monitor(t, server.Addr, "distributedLock", func() { status, code = s.sell() })
	}
	if status != 200 {
		t.Fatalf("sale: %d %s", status, code)
	}
	renewals := 0
	for _, line := range lines {
		if line == "lua PEXPIRE distributedLock 1000" {
			renewals++
		}
	}
	if lines[len(lines)-1] != "lua DEL distributedLock" {
		t.Errorf("the last command was %s: the lock was not the sale's to the end", lines[len(lines)-1])
	}
	if renewals < 5 { // one by lock.lua, then more than one in an expiry, for three; on a quiet machine it is three
		t.Errorf("the expiry was set %d times", renewals)
	}
}

func TestSaleWaitsForAForeignClient(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2", "v3", "v4", "v5", "v6"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			s := start(t, "--redis.addrs", server.Addr, "--lock.version", version)
			began := time.Now() // of both: however long it is between them, the lock is held for a second from here on
			hold(t, server.Addr, time.Second)
			if status, code := s.sell(); status != 200 {
				t.Errorf("sale: %d %s", status, code)
			}
			if took := time.Since(began); took < 900*time.Millisecond {
				t.Errorf("the sale waited %v for a lock held for a second", took)
			}
		})
	}
}

// hold takes the lock as a client in any language would: by the bare protocol.
func hold(t *testing.T, addr string, d time.Duration) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "SET distributedLock other NX PX %d\r\n", d.Milliseconds())
	if answer, err := bufio.NewReader(conn).ReadString('\n'); err != nil || answer != "+OK\r\n" {
		t.Fatalf("SET distributedLock other NX: %q, %v", answer, err)
	}
}

// monitor gives what MONITOR shows about a key while something happens, owners and scripts abbreviated.
func monitor(t *testing.T, addr, key string, during func()) (lines []string) {
	t.Helper()
	for _, line := range monitorAll(t, addr, during) {
		if !slices.Contains(line.words, key) {
			continue
		}
		words := slices.Clone(line.words)
		if words[0] == "eval" {
			words[1] = "SCRIPT"
		}
		if line.script {
			words = append([]string{"lua"}, words...)
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// monitored is a line of MONITOR.
type monitored struct {
	script bool // a script has sent it
	words  []string
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
