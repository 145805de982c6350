package cli

import (
	"net/http"
	"testing"

	"lockstep/internal/test/redistest"
)

// A process keeps the lock of v11 after a sale, here for longer than any test. It gives it back when its run ends, whichever replica ends
// the run, and when it ends itself.
func TestAKeptLockIsGivenBack(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t).Addr
	flags := []string{"--redis.addrs", redis, "--lock.version", "v11", "--lock.ttl", "1h"}
	seller, idle := start(t, flags...), start(t, flags...)
	isKept := func() bool { return seller.outside.Exists(t.Context(), "distributedLock").Val() == 1 }
	keep := func(t *testing.T, s *testServer) {
		t.Helper()
		eventually(t, "a sale's lock is kept", func() bool { // not the first one's: its process has just begun to listen
			status, _ := s.sell()
			return status == http.StatusOK && isKept()
		})
	}
	switchTo := func(s *testServer, lock string) {
		t.Helper()
		if status := s.ask(http.MethodPut, "/lock", `{"version":"`+lock+`"}`, nil); status != http.StatusOK {
			t.Fatalf("PUT /lock %s: %d", lock, status)
		}
	}
	keep(t, seller)
	switchTo(seller, "v4")
	if isKept() {
		t.Error("the replica that ended the run still keeps its lock")
	}
	switchTo(seller, "v11")
	keep(t, idle)
	switchTo(seller, "v4")
	eventually(t, "a replica gives back the lock of a run that another one ended", func() bool { return !isKept() })
	switchTo(seller, "v11")
	t.Run("a replica that ends", func(t *testing.T) { keep(t, start(t, flags...)) })
	if isKept() {
		t.Error("a replica that has ended still keeps the lock")
	}
}
