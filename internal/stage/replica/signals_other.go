//go:build !unix

package replica

// CanStop reports whether processes can be stopped on this system.
const CanStop = false

// Stop fails: only Unix can stop a process.
func Stop(int) error { return ErrNoSignals }

// GoOn fails, as Stop does.
func GoOn(int) error { return ErrNoSignals }
