//go:build unix

package cli

import (
	"syscall"
	"testing"

	"lockstep/internal/cluster"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// If a replica gets SIGTERM, every buyer is answered, and the replica is started again.
func TestTerminatedReplicaLosesNoSale(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "2", "--inventory.initial", "1000000", "--lock", "atomic")
	buyers := shoptest.Gather(t, c.Client, 15)
	for _, replica := range c.replicas() {
		sold := buyers.Answers(200)
		suite.Eventually(t, "all buy", func() bool { return buyers.Answers(200) > sold+100 })
		if err := syscall.Kill(replica.PID, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, replica.Name+" is up again", func() bool {
			for _, now := range c.replicas() {
				if now.Name == replica.Name {
					return now.PID != replica.PID && now.Address != ""
				}
			}
			return false
		})
	}
	for status, n := range buyers.Leave() {
		if status != 200 {
			t.Errorf("%d requests were answered %d", n, status)
		}
	}
}

// A replica that is paused by request is shown as paused at once, before its heartbeat is missed. When it resumes and answers, it is up.
func TestPausedReplicaIsShownAtOnce(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "2")
	var all []cluster.ReplicaAnswer
	status := c.Ask("POST", "/replicas/r1", `{"do":"pause"}`, &all)
	if status != 200 || all[0].State != cluster.Paused || all[1].State != cluster.Up {
		t.Errorf("%d %+v; want r1 to be paused", status, all)
	}
	if status := c.Ask("POST", "/replicas/r1", `{"do":"resume"}`, nil); status != 200 {
		t.Errorf("resume: %d", status)
	}
	suite.Eventually(t, "it is up", func() bool { return c.replicas()[0].State == cluster.Up })
}
