//go:build unix

package cluster

import "syscall"

// ownGroup puts a replica into a process group of its own. A signal to the group of this process, as from a terminal or timeout(1), must
// not reach the replicas: this process stops them itself.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// CanPause reports whether this system can pause a process.
const CanPause = true

// Pause stops a process, including its timers, until Resume.
func Pause(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Resume continues a paused process.
func Resume(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
