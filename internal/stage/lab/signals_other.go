//go:build !unix

package lab

import "os"

const canStop = false

func kill(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}

func stop(int) error { return ErrNoSignals }
func goOn(int) error { return ErrNoSignals }
