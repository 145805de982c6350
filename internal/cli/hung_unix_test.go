//go:build unix

package cli

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"lockstep/internal/cluster"
)

// A replica that is stopped keeps what it holds, for a while, and nothing else; when it goes on, it sells again.
func TestClusterWithAHungReplica(t *testing.T) {
	t.Parallel()
	const crowded = 30
	c := startCluster(t, "--replicas", "3", "--lock", "v4", "--lock.ttl", "1s", "--sale.think_time", "5ms", "--inventory.initial", "1000000")
	buyers := gather(t, c.testServer, crowded)
	eventually(t, "sales", func() bool { return buyers.answers(200) > 60 })
	victim := c.replicas()[1]
	if err := syscall.Kill(victim.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := func() {
		if err := syscall.Kill(victim.PID, syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}
	defer goOn() // or it outlives a test that fails
	its := func() cluster.ReplicaAnswer { return c.replicas()[1] }

	began := time.Now()
	eventually(t, "the stopped replica is said to hang", func() bool { return its().State == cluster.Hung })
	t.Logf("found out after %v", time.Since(began))
	held := its().InFlight
	if held == 0 || held > crowded/2 {
		t.Errorf("it holds %d of %d buyers; want its share", held, crowded)
	}
	sold := buyers.answers(200)
	eventually(t, "the others sell", func() bool { return buyers.answers(200) > sold+60 })
	if now := its(); now.State != cluster.Hung || now.InFlight > held {
		t.Errorf("meanwhile the stopped replica is %s and holds %d; it was hung and held %d", now.State, now.InFlight, held)
	}
	eventually(t, "what it holds is answered 502", func() bool { return int64(buyers.answers(502)) >= held })
	t.Logf("%d buyers got a 502 after %v", held, time.Since(began))

	goOn()
	eventually(t, "it is up again", func() bool { return its().State == cluster.Up })
	eventually(t, "it sells again", func() bool {
		response, err := http.Post(c.url()+"/inventory/sale", "", nil)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == 200 && response.Header.Get("X-Lockstep-Replica") == victim.Name
	})
	answers := buyers.leave()
	for status := range answers {
		if status != 200 && status != 502 && status != 503 { // 503 of the lock, which the stopped replica may have held
			t.Errorf("%d requests were answered %d", answers[status], status)
		}
	}
	if int64(answers[502]) < held {
		t.Errorf("%d answers 502; want one for each of the %d that the stopped replica held", answers[502], held)
	}
	if its().Restarts != 0 {
		t.Error("it was started again")
	}
	eventually(t, "nothing is in flight", func() bool { return c.report().InFlight == 0 })
	if run := c.report(); run.Sold < int64(answers[200]) {
		t.Errorf("%d orders for %d sales", run.Sold, answers[200])
	}
}
