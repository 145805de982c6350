//go:build unix

package cluster

import (
	"syscall"
	"testing"
	"time"
)

// A signal to the process group of the parent, as from a terminal, does not reach the replicas.
func TestReplicaHasItsOwnProcessGroup(t *testing.T) {
	c, err := startAs(t, "normal", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	for _, replica := range c.Replicas() {
		if group, err := syscall.Getpgid(replica.PID); err != nil || group != replica.PID {
			t.Errorf("process %d is in group %d, %v", replica.PID, group, err)
		}
	}
}
