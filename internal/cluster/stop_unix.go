//go:build unix

package cluster

import (
	"os"
	"syscall"
)

func stopProcess(process *os.Process) error     { return process.Signal(syscall.SIGSTOP) }
func continueProcess(process *os.Process) error { return process.Signal(syscall.SIGCONT) }
