//go:build unix

package config_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody writes to is refused, because reading it would never end.
func TestPipeIsRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "config.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	loaded := make(chan error, 1)
	go func() {
		_, err := loadConfig(t, "", "--config", pipe)
		loaded <- err
	}()
	select {
	case err := <-loaded:
		if err == nil || !strings.Contains(err.Error(), pipe+" is a pipe") {
			t.Errorf("%v; want that it is a pipe", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Load does not return")
	}
}
