//go:build !unix

package cluster

import "syscall"

// ownGroup returns nil: this operating system does not send signals to process groups.
func ownGroup() *syscall.SysProcAttr { return nil }

// CanPause reports whether this system can pause a process.
const CanPause = false

// Pause fails with ErrCannotPause.
func Pause(int) error { return ErrCannotPause }

// Resume fails with ErrCannotPause.
func Resume(int) error { return ErrCannotPause }
