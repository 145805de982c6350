//go:build unix

package cluster

import (
	"net/http"
	"syscall"
	"testing"
)

// A front that cannot open connections any more does not take its replicas for hung.
func TestRequestIsRetriedAfterRunningOutOfFiles(t *testing.T) {
	replica := newHangable(t) // it does not hang
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
		t.Errorf("without files to open: %v; want to be told so, and no replica to be late", err)
	}
	if err := get(t.Context(), client, replica.addr(), "/healthz", nil); err != nil {
		t.Error(err)
	}
}
