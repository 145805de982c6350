//go:build unix

package replica

import "syscall"

// CanStop reports whether processes can be stopped on this system.
const CanStop = true

// Stop stops a process, timers and all.
func Stop(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Resume lets a process go on that was stopped.
func Resume(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
