//go:build unix

package load

import (
	"math"
	"syscall"
)

// OpenFileLimit returns how many files this process may have open; Go has raised it as far as the system lets it.
func OpenFileLimit() (limit int, limited bool) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 0, false
	}
	return int(min(files.Cur, math.MaxInt32)), true //nolint:gosec // it fits
}
