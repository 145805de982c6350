//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"lockstep/internal/shop/api"
	"lockstep/internal/test/suite"
)

const (
	keeperExpiry = 2 * time.Second
	keeperThinks = time.Second
	keeperBound  = keeperExpiry + keeperExpiry/4 + keeperThinks + 4*time.Second // the last is what a busy machine takes
)

// keeper is a replica that has cached the lock of v11, and another one.
type keeper struct {
	*testCluster
	pid       int
	it, other *testServer
	fence     int64 // of the keeper's last sale
}

// at is the way to one replica, past the front.
func (c *testCluster) at(address string) *testServer {
	return &testServer{addr: address, t: c.t}
}

// sale buys one piece, which has to be sold.
func (s *testServer) sale() (sold api.SaleAnswer) {
	s.t.Helper()
	if status := s.ask(http.MethodPost, "/inventory/sale", "", &sold); status != http.StatusOK {
		s.t.Errorf("a sale was answered %d", status)
	}
	return sold
}

// keepsLock starts a cluster, and lets one of its replicas keep the lock.
func keepsLock(t *testing.T) *keeper {
	t.Helper()
	c := startCluster(t, "--replicas", "2", "--lock", "v11",
		"--lock.ttl", fmt.Sprint(keeperExpiry), "--sale.think_time", fmt.Sprint(keeperThinks))
	replicas := c.replicas()
	k := &keeper{testCluster: c, pid: replicas[0].PID, it: c.at(replicas[0].Address), other: c.at(replicas[1].Address)}
	eventually(t, "one sale after the other has the cached lock", func() bool {
		before := k.fence
		k.fence = k.it.sale().Fence
		return before > 0 && k.fence == before+1
	})
	if n, err := c.redis.Exists(t.Context(), "distributedLock").Result(); err != nil || n == 0 {
		t.Errorf("the lock is not kept: %d, %v", n, err)
	}
	return k
}

// otherSells lets the other replica sell, and says how long that took.
func (k *keeper) otherSells() {
	k.t.Helper()
	began := time.Now()
	k.other.sale()
	took := time.Since(began)
	k.t.Logf("the other replica sold after %v", took)
	if took > keeperBound {
		k.t.Errorf("the other replica sold after %v; want an expiry and a quarter, and the time of a sale: %v", took, keeperBound)
	}
}

// A keeper that is killed is waited for as any holder.
func TestKeeperIsKilled(t *testing.T) {
	suite.LongOnly(t, "TestHandOverPastTheDead has a holder that is killed, and TestKeeperIsStopped a keeper that is gone for a while")
	t.Parallel()
	k := keepsLock(t)
	if err := syscall.Kill(k.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	k.otherSells()
	if run := k.other.report(); run.Lost != 0 {
		t.Errorf("%d updates were lost", run.Lost)
	}
}

// A keeper that is stopped in a sale, past the expiry of its lock, does not write when it goes on: its token is too old.
func TestKeeperIsStopped(t *testing.T) {
	t.Parallel()
	k := keepsLock(t)
	answer := make(chan string, 1)
	go func() {
		status, text := k.it.send(t.Context(), http.MethodPost, "/inventory/sale", "", nil)
		var failed api.ErrorAnswer
		err := json.Unmarshal(text, &failed)
		answer <- fmt.Sprint(status, " ", failed.Error.Code, " ", err)
	}()
	eventually(t, "the keeper has read the stock", func() bool {
		seen, err := k.redis.Get(t.Context(), "{inventory}:fence").Int64()
		return err == nil && seen > k.fence
	})
	if err := syscall.Kill(k.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := func() { _ = syscall.Kill(k.pid, syscall.SIGCONT) }
	defer goOn() // or it outlives a test that fails
	k.otherSells()
	goOn()
	if got, want := <-answer, "503 lock_lost <nil>"; got != want {
		t.Errorf("the sale of the stopped keeper was answered %s; want %s", got, want)
	}
	if run := k.other.report(); run.Lost != 0 {
		t.Errorf("%d updates were lost", run.Lost)
	}
	k.it.sale()
}
