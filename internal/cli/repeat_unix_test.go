//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"testing"

	"lockstep/internal/cluster"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/load"
	"lockstep/internal/stage/fault"
	"lockstep/internal/test/redistest"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// A replica that dies between its write and its answer has sold. The same key has that receipt: of another replica, of the front without
// being asked, and when the run is over.
func TestARepeatHasTheReceiptOfAReplicaThatDied(t *testing.T) {
	t.Parallel()
	suite.Together(t, []string{"v4", "atomic"}, func(t *testing.T, version string) {
		proxy := redistest.NewProxy(t, redistest.Start(t).Addr)
		c := startCluster(t, "--replicas", "3", "--redis.addrs", proxy.Addr(), "--lock.version", version, "--lock.ttl", "1s")
		// killAfterWrite buys, and kills the replica that sells once Redis has its write. It returns when another process is in its place.
		killAfterWrite := func(at shoptest.Client, key string) (answer shoptest.Bought, written history.Order) {
			trap := proxy.Catch(fault.IsWrite, fault.HoldReply)
			answers := make(chan shoptest.Bought, 1)
			go func() { answers <- at.BuyBy(key) }()
			suite.Eventually(t, "a write is caught", trap.IsCaught)
			written = c.Order(key)
			before := c.replicas()
			for _, replica := range before {
				if replica.Name != written.Replica {
					continue
				}
				process, err := os.FindProcess(replica.PID)
				if err == nil {
					err = process.Kill()
				}
				if err != nil {
					t.Error(err)
				}
			}
			answer = <-answers
			trap.Drop()
			suite.Eventually(t, "all replicas are up again", func() bool {
				up, changed := 0, 0
				for i, replica := range c.replicas() {
					if replica.State == cluster.Up {
						up++
					}
					if replica.PID != before[i].PID {
						changed++
					}
				}
				return up == len(before) && changed == 1
			})
			return answer, written
		}
		victim, other := c.replicas()[0], c.replicas()[1]
		answer, first := killAfterWrite(shoptest.At(t, victim.Address), "direct")
		if answer.Status != 0 {
			t.Errorf("a replica that died has answered %+v", answer)
		}
		if first.Replica != victim.Name {
			t.Errorf("it was sold by %+v; want %s", first, victim.Name)
		}
		if answer := shoptest.At(t, other.Address).BuyBy(`"direct"`); !answer.Replayed || !answer.IsReceipt(first) {
			t.Errorf("the repeat at %s: %+v; want the receipt of %+v", other.Name, answer, first)
		}
		answer, second := killAfterWrite(c.Client, "fronted")
		if !answer.Replayed || !answer.IsReceipt(second) {
			t.Errorf("by the front: %+v; want the receipt of %+v", answer, second)
		}
		if run := c.Report(); run.Sold != 2 || run.Remaining != 198 {
			t.Errorf("%+v; want 2 sold", run)
		}
		if status := c.Ask("PUT", "/inventory", `{"stock":7}`, nil); status != 200 {
			t.Errorf("a new run: %d", status)
		}
		if answer := c.BuyBy("direct"); !answer.Replayed || !answer.IsReceipt(first) {
			t.Errorf("in the next run: %+v; want the receipt of %+v", answer, first)
		}
		if run := c.Report(); run.Sold != 0 || run.Remaining != 7 {
			t.Errorf("the next run: %+v; want nothing sold", run)
		}
	})
}

// With --retry a burst has no unknown: a buyer in doubt asks again, and is told of what it has bought. Without, it does not ask.
func TestBurstRetries(t *testing.T) {
	t.Parallel()
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr)
	s := shoptest.Start(t, "--redis.addrs", proxy.Addr(), "--lock.version", "v4", "--lock.ttl", "1s", "--sale.think_time", "1ms")
	for _, flags := range [][]string{{}, {"--retry"}} {
		lost := []*fault.Trap{
			proxy.Catch(fault.After(3, fault.IsWrite), fault.LoseReply),
			proxy.Catch(fault.After(6, fault.IsWrite), fault.LoseRequest),
		}
		code, stdout, stderr := command(t, append([]string{"burst", "--target", s.URL(), "-n", "20", "-c", "5", "--json"}, flags...)...)
		var got load.Result
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || !lost[0].IsCaught() || !lost[1].IsCaught() {
			t.Fatalf("%v: exit code %d, %s%s: %v", flags, code, stdout, stderr, err)
		}
		want := load.Result{OK: 18, Unknown: 2}
		if len(flags) > 0 {
			want = load.Result{OK: 20, Retried: 2, Replayed: 1}
		}
		if got.OK != want.OK || got.Unknown != want.Unknown || got.Retried != want.Retried || got.Replayed != want.Replayed ||
			(code == 0) != (want.Unknown == 0) {
			t.Errorf("%v: exit code %d, %+v; want %+v", flags, code, got, want)
		}
	}
}
