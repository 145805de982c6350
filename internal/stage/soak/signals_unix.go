//go:build unix

package soak

import "syscall"

const canStop = true

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
func stop(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }
func goOn(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
