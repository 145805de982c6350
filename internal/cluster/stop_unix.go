//go:build unix

package cluster

import "syscall"

// ownGroup puts a replica into a process group of its own: a signal to the group of this process, as from a terminal or timeout(1), is for
// this process, which ends its replicas in its own time.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// CanPause reports whether this system can pause a process.
const CanPause = true

// Pause stops a process, timers and all.
func Pause(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Resume lets a process go on that was paused.
func Resume(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
