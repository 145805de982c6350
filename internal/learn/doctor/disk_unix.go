//go:build linux || darwin

package doctor

import "syscall"

// FreeBytes returns how much may still be written where a directory is.
func FreeBytes(dir string) (free uint64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, err
	}
	return disk.Bavail * uint64(disk.Bsize), nil //nolint:gosec // it is no debt; on macOS it is of another type
}
