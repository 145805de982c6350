package redisserver

import (
	"errors"
	"os"
	"testing"
)

// A server that was stopped has ended: nothing of it is left to be found by a test that looks for goroutines.
func TestStopWaitsForServerToEnd(t *testing.T) {
	s := Start(t)
	process, err := os.FindProcess(s.process.PID())
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	if err := process.Signal(os.Kill); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("%v; want it done", err)
	}
}
