//go:build !unix

package cluster

// CanPause reports whether this system can pause a process.
const CanPause = false

// Pause fails with ErrCannotPause.
func Pause(int) error { return ErrCannotPause }

// Resume fails with ErrCannotPause.
func Resume(int) error { return ErrCannotPause }
