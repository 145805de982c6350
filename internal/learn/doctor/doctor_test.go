package doctor_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/learn/doctor"
)

var (
	errNot   = errors.New("not here")
	errOther = errors.New("what answers there is no lockstep: 200 OK, \"hi\"")
)

// complete is a machine that lacks nothing.
func complete(t *testing.T) doctor.Machine {
	t.Helper()
	clone := t.TempDir()
	if err := os.WriteFile(filepath.Join(clone, "go.mod"), []byte("module lockstep\r\n\r\ngo 1.26\r\n"), 0o600); err != nil { // as on Windows
		t.Fatal(err)
	}
	return doctor.Machine{
		OS: "linux", Dir: clone, Cache: "/cache", Server: "127.0.0.1:8080", Redis: "127.0.0.1:6380",
		LookPath: func(program string) (string, error) { return "/bin/" + program, nil },
		Output: func(_ context.Context, _ []string, program string, args ...string) (string, error) {
			switch {
			case program == "javac":
				return "javac 21.0.1\n", nil
			case program == "redis-server":
				return "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0\n", nil
			case slices.Contains(args, "GOVERSION"):
				return "go1.26.3\n", nil
			default:
				return "", nil
			}
		},
		Listen:    func(string) error { return nil },
		Eviction:  func(context.Context) (string, error) { return "", nil },
		Probe:     func(context.Context, string) error { return errOther },
		OpenFiles: func() (int, bool) { return 4096, true },
		Buyers:    func(limit int) int { return limit / 2 },
		FreeBytes: func(string) (uint64, error) { return 5 << 30, nil },
	}
}

// Modules that are vendored are there, too: Go is asked as go run . asks.
func TestVendoredModulesAreThere(t *testing.T) {
	m := complete(t)
	for name, text := range map[string]string{
		"go.mod":             "module lockstep\n\ngo 1.26\n\nrequire example.com/vendored v1.0.0\n",
		"main.go":            "package main\n\nimport _ \"example.com/vendored\"\n\nfunc main() {}\n",
		"vendor/modules.txt": "# example.com/vendored v1.0.0\n## explicit\nexample.com/vendored\n",
		"vendor/example.com/vendored/vendored.go": "package vendored\n",
	} {
		file := filepath.Join(m.Dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	m.Output = func(ctx context.Context, env []string, program string, args ...string) (string, error) {
		command := exec.CommandContext(ctx, program, args...)
		command.Dir, command.Env = m.Dir, append(os.Environ(), env...)
		output, err := command.Output()
		return string(output), err
	}
	for _, f := range m.Examine(t.Context(), language.English) {
		if f.Name == "modules" && f.State != doctor.Fine {
			t.Errorf("%+v", f)
		}
	}
}

func TestNothingIsMissing(t *testing.T) {
	findings := complete(t).Examine(t.Context(), language.English)
	if len(findings) < 12 || !doctor.Ready(findings) {
		t.Fatalf("%d findings: %+v", len(findings), findings)
	}
	for _, f := range findings {
		if f.State != doctor.Fine || f.Get != "" || f.Found == "" || f.For == "" {
			t.Errorf("%+v", f)
		}
	}
}

// prints makes every program print this.
func prints(text string) func(*doctor.Machine) {
	return func(m *doctor.Machine) {
		m.Output = func(context.Context, []string, string, ...string) (string, error) { return text, nil }
	}
}

// A Valkey does as well as a Redis.
func TestARealRedis(t *testing.T) {
	m := complete(t)
	m.LookPath = func(program string) (string, error) {
		if program == "valkey-server" {
			return "/bin/valkey-server", nil
		}
		return "", errNot
	}
	prints("Valkey server v=9.1.2 sha=00000000:1 malloc=libc bits=64 build=1536df31c0395150\n")(&m)
	findings := m.Examine(t.Context(), language.English)
	f := findings[slices.IndexFunc(findings, func(f doctor.Finding) bool { return f.Name == "redis-server" })]
	if f.State != doctor.Fine || f.Found != "Valkey 9.1.2, /bin/valkey-server" {
		t.Errorf("%+v; want Valkey 9.1.2", f)
	}
}

// Each thing that a machine lacks is named, in every language and system, with what it is for and how to get it.
func TestWhatIsMissing(t *testing.T) {
	output := func(answer string, err error) func(context.Context, []string, string, ...string) (string, error) {
		return func(_ context.Context, _ []string, program string, args ...string) (string, error) {
			if program == "go" && slices.Contains(args, "GOVERSION") {
				return answer, err
			}
			return "", errNot
		}
	}
	for _, c := range []struct {
		name, found string
		needed      bool
		breaks      func(*doctor.Machine)
	}{
		{"Go", "not found", true, func(m *doctor.Machine) { m.Output = output("", errNot) }},
		{"Go", "go1.25.1: too old", true, func(m *doctor.Machine) { m.Output = output("go1.25.1\n", nil) }},
		{"sources", "not in /elsewhere", true, func(m *doctor.Machine) { m.Dir = "/elsewhere" }},
		{"modules", "some are not here", true, func(m *doctor.Machine) { m.Output = output("go1.26.0\n", nil) }},
		{"disk", "1.0 GB free", true, func(m *doctor.Machine) { m.FreeBytes = func(string) (uint64, error) { return 1 << 30, nil } }},
		{"disk", "not here", false, func(m *doctor.Machine) { m.FreeBytes = func(string) (uint64, error) { return 0, errNot } }},
		{"open files", "1024: a server takes 512 buyers at once", false, func(m *doctor.Machine) {
			m.OpenFiles = func() (int, bool) { return 1024, true }
		}},
		{"server port", "127.0.0.1:8080 is taken", true, listens(syscall.EADDRINUSE)},
		{"server port", "127.0.0.1:8080 cannot be listened at: permission denied", true, listens(syscall.EACCES)},
		{"Redis port", "127.0.0.1:6380 is taken", true, listens(syscall.EADDRINUSE)},
		{"eviction", "maxmemory-policy volatile-lru: ", false, func(m *doctor.Machine) {
			m.Eviction = func(context.Context) (string, error) { return "volatile-lru", nil }
		}},
		{"eviction", "not here", false, func(m *doctor.Machine) {
			m.Eviction = func(context.Context) (string, error) { return "", errNot }
		}},
		{"browser", "not found", false, func(m *doctor.Machine) { m.LookPath = func(string) (string, error) { return "", errNot } }},
		{"redis-server", "not found", false, func(m *doctor.Machine) { m.LookPath = func(string) (string, error) { return "", errNot } }},
		{"redis-server", "Redis 6.0.16: too old, 7 is needed", false, prints("Redis server v=6.0.16 sha=0 bits=64\n")},
		{"redis-server", "Valkey 7.2.11: too old, 8 is needed", false, prints("Valkey server v=7.2.11 sha=0 bits=64\n")},
		{"redis-server", "/bin/redis-server", false, prints("")},
		{"JDK", "not found", false, func(m *doctor.Machine) { m.Output = output("go1.26.0\n", nil) }},
		{"Maven", "not found", false, func(m *doctor.Machine) { m.LookPath = func(string) (string, error) { return "", errNot } }},
	} {
		for _, system := range []string{"linux", "darwin", "windows"} {
			if c.name == "browser" && system != "linux" {
				continue
			}
			m := complete(t)
			m.OS = system
			c.breaks(&m)
			english, chinese := m.Examine(t.Context(), language.English), m.Examine(t.Context(), language.Chinese)
			i := slices.IndexFunc(english, func(f doctor.Finding) bool { return f.Name == c.name })
			f := english[i]
			if f.State == doctor.Fine || (f.State == doctor.Missing) != c.needed || !strings.HasPrefix(f.Found, c.found) || f.Get == "" {
				t.Errorf("%s: %+v; want %s", system, f, c.found)
			}
			if doctor.Ready(english) == c.needed && c.needed {
				t.Errorf("%s: ready without %s", system, c.name)
			}
			if z := chinese[i]; z.State != f.State || z.For == f.For || z.Get == "" {
				t.Errorf("%s, in Chinese: %+v", system, z)
			}
		}
	}
}

// A port is a lockstep's already, or some program's, which is named.
func TestWhoHasThePort(t *testing.T) {
	const netstat = "\n  Proto  Local Address  Foreign Address  State  PID\n" +
		"  TCP    127.0.0.1:18080  0.0.0.0:0  LISTENING  1\n  TCP    127.0.0.1:8080  127.0.0.1:9  ESTABLISHED  2\n" +
		"  TCP    127.0.0.1:8080  0.0.0.0:0  LISTENING  4711\n"
	for system, c := range map[string]struct{ prints, says string }{
		"linux":   {"p4711\ncnginx\nf6\n", "127.0.0.1:8080 is taken (nginx, pid 4711): " + errOther.Error()},
		"windows": {netstat, "127.0.0.1:8080 is taken (pid 4711): " + errOther.Error()},
	} {
		m := complete(t)
		m.OS, m.Listen = system, func(string) error { return syscall.EADDRINUSE }
		m.Output = func(_ context.Context, _ []string, _ string, _ ...string) (string, error) { return c.prints, nil }
		if found := portOf(t, m); found.Found != c.says || found.State != doctor.Missing {
			t.Errorf("%s: %+v; want %s", system, found, c.says)
		}
		m.Probe = func(_ context.Context, target string) error {
			if target == "http://127.0.0.1:8080" {
				return nil
			}
			return errOther
		}
		if found := portOf(t, m); found.Found != "127.0.0.1:8080: a lockstep runs already" || found.State != doctor.Fine {
			t.Errorf("%s: %+v", system, found)
		}
	}
}

// listens lets a machine's ports be as this error says.
func listens(err error) func(*doctor.Machine) {
	return func(m *doctor.Machine) { m.Listen = func(string) error { return err } }
}

func portOf(t *testing.T, m doctor.Machine) doctor.Finding {
	t.Helper()
	findings := m.Examine(t.Context(), language.English)
	return findings[slices.IndexFunc(findings, func(f doctor.Finding) bool { return f.Name == "server port" })]
}

func TestFreeBytes(t *testing.T) {
	if free, err := doctor.FreeBytes(t.TempDir()); err == nil && free == 0 {
		t.Error("the disk is full, and yet this test runs")
	}
}
