//go:build !unix

package replica

// CanStop reports whether processes can be stopped on this system.
const CanStop = false

// Stop fails: only Unix can stop a process.
func Stop(int) error { return ErrNoSignals }

// Resume fails, as Stop does.
func Resume(int) error { return ErrNoSignals }
