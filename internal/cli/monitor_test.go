package cli

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/test/redistest"
)

// MONITOR shows the write-up's GET and SET of a sale without a lock, though the SET comes from a script.
func TestMonitorShowsGetAndSet(t *testing.T) {
	server := redistest.Start(t)
	s := start(t, "--redis.addrs", server.Addr)
	got := monitor(t, server.Addr, "inventory", func() { s.sell() })
	if i := slices.Index(got, "get inventory"); i < 0 || !slices.Contains(got[i:], "lua SET inventory 199") {
		t.Errorf("MONITOR shows\n  %s\nwant get inventory, and then lua SET inventory 199", strings.Join(got, "\n  "))
	}
}

// MONITOR shows for each version the write-up's commands, and no others for the lock.
func TestMonitorShowsTheWriteUpsCommands(t *testing.T) {
	server := redistest.Start(t)
	for version, want := range map[string][]string{
		"v0":    nil,
		"local": nil,
		"v1":    {"set distributedLock 1 NX", "del distributedLock"},
		"v2":    {"set distributedLock 1 ex 10 NX", "del distributedLock"},
		"v3":    {"set distributedLock OWNER ex 10 NX", "get distributedLock", "del distributedLock"},
		"v4": {
			"set distributedLock OWNER ex 10 NX",
			"eval SCRIPT 1 distributedLock OWNER", "lua GET distributedLock", "lua DEL distributedLock",
		},
		"v5": reentrantSale,
		"v6": reentrantSale,
	} {
		t.Run(version, func(t *testing.T) {
			s := start(t, "--redis.addrs", server.Addr, "--lock.version", version)
			got := monitor(t, server.Addr, "distributedLock", func() {
				if status, code := s.sell(); status != 200 {
					t.Fatalf("sale: %d %s", status, code)
				}
			})
			if !slices.Equal(got, want) {
				t.Errorf("MONITOR shows\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			}
		})
	}
}

var reentrantSale = []string{
	"eval SCRIPT 1 distributedLock OWNER 10000",
	"lua EXISTS distributedLock", "lua HINCRBY distributedLock OWNER 1", "lua PEXPIRE distributedLock 10000",
	"eval SCRIPT 1 distributedLock OWNER",
	"lua HGET distributedLock OWNER", "lua DEL distributedLock",
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
	script := regexp.MustCompile(`"eval" ".*?[^\\]" `)
	for {
		line, err := shown.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, `"ECHO" "over"`) {
			return lines
		}
		_, rest, _ := strings.Cut(line, "[0 ")
		source, command, _ := strings.Cut(strings.TrimSpace(rest), "] ")
		command = script.ReplaceAllString(command, `"eval" "SCRIPT" `)
		command = owner.ReplaceAllString(command, "OWNER")
		if !strings.Contains(command, `"`+key+`"`) {
			continue
		}
		command = strings.ReplaceAll(command, `"`, "")
		if source == "lua" {
			command = "lua " + command
		}
		lines = append(lines, command)
	}
}
