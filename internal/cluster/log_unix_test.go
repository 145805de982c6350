//go:build unix

package cluster

import (
	"io"
	"syscall"
	"testing"
	"time"
)

// A replica whose log nobody reads ends like any other, and its end is noticed.
func TestReplicaWhoseLogNobodyReads(t *testing.T) {
	reader, writer := io.Pipe()
	defer reader.Close()
	c, err := startAs(t, "talkative", time.Minute, writer)
	if err != nil {
		t.Fatal(err)
	}
	c.Stop() // or the test times out
}

// A signal to the group of this process, as from a terminal, is not for its replicas.
func TestReplicaHasAGroupOfItsOwn(t *testing.T) {
	c, err := startAs(t, "good", time.Minute, nil)
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
