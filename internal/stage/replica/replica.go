// Package replica starts replicas as processes of this very program, and kills, stops and continues them by signals.
package replica

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// AnyPort is any free port of loopback.
const AnyPort = "127.0.0.1:0"

// ErrNoSignals means that a process cannot be stopped on this system.
var ErrNoSignals = errors.New("it stops a process, which only Unix can")

// Command gives the command that starts a replica: a command of the program, which ends with this process, in a directory, with these
// settings and none of the environment. What it says goes to said.
func Command(program, command, name, dir string, said io.Writer, settings ...string) *exec.Cmd {
	arguments := append([]string{command, "--until-stdin-ends", "--log.level=error", "--server.replica=" + name}, settings...)
	cmd := exec.Command(program, arguments...)
	cmd.Dir, cmd.Stderr = dir, said
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "LOCKSTEP_") })
	return cmd
}

// Kill kills a process.
func Kill(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}
