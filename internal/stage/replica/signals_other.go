//go:build !unix

package replica

import "os"

// CanStop reports whether processes can be stopped on this system.
const CanStop = false

// Kill kills a process.
func Kill(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}

// Stop fails: only Unix can stop a process.
func Stop(int) error { return ErrNoSignals }

// GoOn fails, as Stop does.
func GoOn(int) error { return ErrNoSignals }
