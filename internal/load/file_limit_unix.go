//go:build unix

package load

import (
	"math"
	"syscall"
)

// OpenFileLimit returns the number of files that this process may have open. Go has already raised it to the hard limit. limited is false
// if the limit cannot be read.
func OpenFileLimit() (limit int, limited bool) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 0, false
	}
	return int(min(files.Cur, math.MaxInt32)), true //nolint:gosec // at most math.MaxInt32
}
