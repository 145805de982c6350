//go:build unix

package cluster

import (
	"net/http"
	"syscall"
	"testing"
)

// A front that cannot open more connections does not count its replicas as hung.
func TestRunningOutOfFilesIsNoTimeout(t *testing.T) {
	replica := newHangable(t)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	err := get(t.Context(), client, replica.addr(), "/healthz", nil)
	if back := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); back != nil {
		t.Fatal(back)
	}
	if !isOutOfFiles(err) || isTimeout(err) {
		t.Errorf("without open files left: %v; want that error, and no timeout", err)
	}
	if err := get(t.Context(), client, replica.addr(), "/healthz", nil); err != nil {
		t.Error(err)
	}
}
