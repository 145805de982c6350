package cli

import (
	"fmt"
	"os"
	"testing"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/test/suite"
)

// With v7, who dies in the queue, or with the lock, holds the others up for a bounded time: the expiry, and the quarter of it
// after which a waiter looks by itself.
func TestHandOverPastTheDead(t *testing.T) {
	t.Parallel()
	const (
		expiry = 2 * time.Second
		think  = 3 * time.Second                   // in which the other two have to come
		bound  = expiry + expiry/4 + 4*time.Second // and what a busy machine takes
	)
	for _, dies := range []string{"the holder", "the head of the queue"} {
		for _, lock := range []string{"v10", "v11"} {
			t.Run(dies+" "+lock, func(t *testing.T) {
				t.Parallel()
				if (dies == "the holder") != (lock == "v11") {
					suite.LongOnly(t, "the quick suite has one of each, for v11 is handed over as v10 is")
				}
				c := startCluster(t, "--replicas", "3", "--lock", lock, "--lock.ttl", fmt.Sprint(expiry), "--sale.think_time", fmt.Sprint(think))
				answers := make([]chan string, 3)
				processes := make([]cluster.ReplicaAnswer, 3) // in the order in which they came
				for i := range answers {
					answers[i] = make(chan string, 1)
					go func() {
						status, code := c.sell()
						answers[i] <- fmt.Sprint(status, " ", code)
					}()
					eventually(t, "one more process asks for the lock", func() bool {
						n, err := c.redis.LLen(t.Context(), "{distributedLock}:queue").Result()
						for _, replica := range c.replicas() {
							if replica.InFlight == 1 && replica.PID != processes[0].PID && replica.PID != processes[1].PID {
								processes[i] = replica
							}
						}
						return err == nil && n == int64(i) && processes[i].PID != 0
					})
				}
				victim := map[string]int{"the holder": 0, "the head of the queue": 1}[dies]
				process, err := os.FindProcess(processes[victim].PID)
				if err == nil {
					err = process.Kill()
				}
				if err != nil {
					t.Fatal(err)
				}
				killed := time.Now()
				for i := range answers {
					want := "200 "
					if i == victim {
						want = "502 bad_gateway"
					}
					if got := <-answers[i]; got != want {
						t.Errorf("sale %d: %s; want %s", i+1, got, want)
					}
				}
				if took, most := time.Since(killed), 2*think+bound; took > most { // two more sales
					t.Errorf("the others were held up for %v; want no more than %v in all", took, most)
				}
			})
		}
	}
}
