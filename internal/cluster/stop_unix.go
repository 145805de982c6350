//go:build unix

package cluster

import "syscall"

// CanPause reports whether this system can pause a process.
const CanPause = true

// Pause stops a process, timers and all.
func Pause(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Resume lets a process go on that was paused.
func Resume(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
