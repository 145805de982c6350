//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"

	"lockstep/internal/cluster"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/load"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/test/redistest"
)

// bought is the answer to a sale with a key.
type bought struct {
	api.SaleAnswer
	api.ErrorAnswer

	status   int // 0: there was no answer
	replayed bool
}

// isReceipt reports whether it is an order's, as the one who bought it was answered or as another one is.
func (b bought) isReceipt(o history.Order) bool {
	timed := !b.replayed || b.WaitMS == 0 && b.HoldMS == 0
	return b.status == 200 && b.OrderID == o.ID && b.RunID == o.RunID && b.Lock == o.Lock && b.Replica == o.Replica &&
		b.StockBefore == o.Before && b.StockAfter == o.After && b.Fence == o.Fence && timed
}

// buyBy asks for the sale of a key.
func (s *testServer) buyBy(key string) (b bought) {
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url()+"/inventory/sale", http.NoBody)
	if err != nil {
		s.t.Error(err)
		return b
	}
	request.Header["idempotency-key"] = []string{key} // written so, net/http does not repeat it by itself
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return b
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err == nil {
		decode(s.t, text, &b)
		b.status, b.replayed = response.StatusCode, response.Header.Get("Idempotency-Replayed") == "true"
	}
	return b
}

// order is what the ledger says of a key.
func (s *testServer) order(key string) (order history.Order) {
	s.t.Helper()
	if status := s.ask("GET", "/orders/"+api.OrderOfKey(key), "", &order); status != 200 {
		s.t.Errorf("GET /orders of the key %s: %d", key, status)
	}
	return order
}

// A replica that dies between its write and its answer has sold. The same key has that receipt: of another replica, of the front without
// being asked, and when the run is over.
func TestARepeatHasTheReceiptOfAReplicaThatDied(t *testing.T) {
	t.Parallel()
	together(t, []string{"v0", "v4", "v11", "atomic"}, func(t *testing.T, version string) {
		proxy, err := redisproxy.Open(redistest.Start(t).Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = proxy.Close() })
		c := startCluster(t, "--replicas", "3", "--redis.addrs", proxy.Addr(), "--lock.version", version, "--lock.ttl", "1s")
		// killAfterWrite buys, and kills the replica that sells once Redis has its write. It returns when another process is in its place.
		killAfterWrite := func(at *testServer, key string) (answer bought, written history.Order) {
			trap := proxy.Catch(redisproxy.IsWrite, redisproxy.HoldReply)
			answers := make(chan bought, 1)
			go func() { answers <- at.buyBy(key) }()
			eventually(t, "a write is caught", trap.IsCaught)
			written = c.order(key)
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
			eventually(t, "all replicas are up again", func() bool {
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
		answer, first := killAfterWrite(c.at(victim.Address), "direct")
		if answer.status != 0 {
			t.Errorf("a replica that died has answered %+v", answer)
		}
		if first.Replica != victim.Name {
			t.Errorf("it was sold by %+v; want %s", first, victim.Name)
		}
		if answer := c.at(other.Address).buyBy(`"direct"`); !answer.replayed || !answer.isReceipt(first) {
			t.Errorf("the repeat at %s: %+v; want the receipt of %+v", other.Name, answer, first)
		}
		answer, second := killAfterWrite(c.testServer, "fronted")
		if !answer.replayed || !answer.isReceipt(second) {
			t.Errorf("by the front: %+v; want the receipt of %+v", answer, second)
		}
		if run := c.report(); run.Sold != 2 || run.Remaining != 198 {
			t.Errorf("%+v; want 2 sold", run)
		}
		if status := c.ask("PUT", "/inventory", `{"stock":7}`, nil); status != 200 {
			t.Errorf("a new run: %d", status)
		}
		if answer := c.buyBy("direct"); !answer.replayed || !answer.isReceipt(first) {
			t.Errorf("in the next run: %+v; want the receipt of %+v", answer, first)
		}
		if run := c.report(); run.Sold != 0 || run.Remaining != 7 {
			t.Errorf("the next run: %+v; want nothing sold", run)
		}
	})
}

// Requests with one key at the same time, to two replicas, buy one piece: the last one.
func TestRepeatsAtTheSameTimeSellOnce(t *testing.T) {
	t.Parallel()
	together(t, []string{"v0", "v1", "v4", "v5", "v7", "v11", "atomic", "optimistic"}, func(t *testing.T, version string) {
		flags := []string{"--redis.addrs", redistest.Start(t).Addr, "--lock.version", version, "--inventory.initial", "1",
			"--sale.think_time", "2ms"}
		replicas := []*testServer{start(t, flags...), start(t, flags...)}
		answers := make([]bought, 24)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = replicas[i%2].buyBy("once") })
		}
		all.Wait()
		order, bought := replicas[0].order("once"), 0
		for _, answer := range answers {
			if !answer.isReceipt(order) {
				t.Errorf("%+v; want the receipt of %+v", answer, order)
			}
			if !answer.replayed {
				bought++
			}
		}
		if run := replicas[1].report(); run.Sold != 1 || run.Remaining != 0 || bought != 1 {
			t.Errorf("%+v, and %d were told that they bought; want one of each", run, bought)
		}
		if answer := replicas[0].buyBy("another"); answer.status != 409 || answer.Error.Code != "sold_out" {
			t.Errorf("another key: %+v; want 409 sold_out", answer)
		}
	})
}

// A buyer in doubt asks again, and has its receipt; so has the first request, if its write comes late.
func TestARepeatAfterADoubt(t *testing.T) {
	t.Parallel()
	together(t, []string{"v0", "v4", "v7", "atomic", "optimistic"}, func(t *testing.T, version string) {
		redis := redistest.Start(t)
		proxy, err := redisproxy.Open(redis.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = proxy.Close() })
		flags := []string{"--lock.version", version, "--lock.ttl", "1s"}
		s, other := start(t, append(flags, "--redis.addrs", proxy.Addr())...), start(t, append(flags, "--redis.addrs", redis.Addr)...)
		for i, fate := range []redisproxy.Fate{redisproxy.LoseReply, redisproxy.LoseRequest} {
			key := fmt.Sprint("doubt", i)
			proxy.Catch(redisproxy.IsWrite, fate)
			first := s.buyBy(key)
			if first.status != 503 || first.Error.Code != "outcome_unknown" || first.Error.OrderID != api.OrderOfKey(key) {
				t.Errorf("%+v; want 503 outcome_unknown of %s", first, api.OrderOfKey(key))
			}
			made := fate == redisproxy.LoseReply // of optimistic, EXEC may be lost with the reply to what it is to do
			if answer := s.buyBy(key); answer.replayed != made && version != "optimistic" || !answer.isReceipt(s.order(key)) {
				t.Errorf("the repeat: %+v; want the receipt of %+v, replayed %v", answer, s.order(key), made)
			}
		}
		trap := proxy.Catch(redisproxy.IsWrite, redisproxy.Hold)
		late := make(chan bought, 1)
		go func() { late <- s.buyBy("late") }()
		eventually(t, "a write is caught", trap.IsCaught)
		answer := other.buyBy("late") // with a lock, once that has expired
		trap.Release()
		order, first := s.order("late"), <-late
		if answer.replayed || !answer.isReceipt(order) {
			t.Errorf("%+v; want the receipt of %+v", answer, order)
		}
		doubt := first.status == 503 && first.Error.Code == "outcome_unknown"
		if !doubt && (!first.replayed || !first.isReceipt(order)) {
			t.Errorf("the first request: %+v; want the receipt of %+v, or a doubt", first, order)
		}
		if run := s.report(); run.Sold != 3 || run.Remaining != 197 {
			t.Errorf("%+v; want 3 sold", run)
		}
	})
}

// A key that is none sells nothing, and says what is right.
func TestABadKeySellsNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, key := range []string{"", `""`, "two words", `"a", "b"`, "a\tb"} {
		if answer := s.buyBy(key); answer.status != 400 || answer.Error.Code != "bad_request" {
			t.Errorf("%q: %+v; want 400 bad_request", key, answer)
		}
	}
	if run := s.report(); run.Sold != 0 {
		t.Errorf("%+v; want nothing sold", run)
	}
}

// With --retry a burst has no unknown: a buyer in doubt asks again, and is told of what it has bought. Without, it does not ask.
func TestBurstRetries(t *testing.T) {
	t.Parallel()
	proxy, err := redisproxy.Open(redistest.Start(t).Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	s := start(t, "--redis.addrs", proxy.Addr(), "--lock.version", "v4", "--lock.ttl", "1s", "--sale.think_time", "1ms")
	for _, flags := range [][]string{{}, {"--retry"}} {
		lost := []*redisproxy.Trap{
			proxy.Catch(redisproxy.After(3, redisproxy.IsWrite), redisproxy.LoseReply),
			proxy.Catch(redisproxy.After(6, redisproxy.IsWrite), redisproxy.LoseRequest),
		}
		code, stdout, stderr := command(t, append([]string{"burst", "--target", s.url(), "-n", "20", "-c", "5", "--json"}, flags...)...)
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
