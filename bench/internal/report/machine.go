package report

import (
	"os"
	"regexp"
	"runtime"
	"strings"

	"lockstep/bench/internal/result"
)

var model = regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`)

// ThisMachine describes this machine. The CPU is "unknown" where the system does not name it.
func ThisMachine(redis string) result.Machine {
	m := result.Machine{
		CPU: "unknown " + runtime.GOARCH, Cores: runtime.NumCPU(), Kernel: runtime.GOOS, Go: runtime.Version(), Redis: redis,
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if found := model.FindStringSubmatch(string(info)); found != nil {
			m.CPU = found[1]
		}
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel += " " + strings.TrimSpace(string(release))
	}
	return m
}
