package server_test

import (
	"fmt"
	"sync"
	"testing"

	"lockstep/internal/api"
	"lockstep/internal/fault"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// Requests with one key at the same time, to two replicas, buy one piece: the last one.
func TestRepeatsAtTheSameTimeSellOnce(t *testing.T) {
	t.Parallel()
	suite.Together(t, []string{"v0", "v1", "v4", "v5", "v7", "v11", "atomic", "optimistic"}, func(t *testing.T, version string) {
		flags := []string{"--redis.addrs", redisserver.Start(t).Addr, "--lock.version", version, "--inventory.initial", "1",
			"--sale.think_time", "2ms"}
		replicas := []*shoptest.Server{shoptest.Start(t, flags...), shoptest.Start(t, flags...)}
		answers := make([]shoptest.Bought, 24)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = replicas[i%2].BuyWithKey("once") })
		}
		all.Wait()
		order, bought := replicas[0].Order("once"), 0
		for _, answer := range answers {
			if !answer.IsReceipt(order) {
				t.Errorf("%+v; want the receipt of %+v", answer, order)
			}
			if !answer.Replayed {
				bought++
			}
		}
		if run := replicas[1].Report(); run.Sold != 1 || run.Remaining != 0 || bought != 1 {
			t.Errorf("%+v, and %d were told that they bought; want one of each", run, bought)
		}
		if answer := replicas[0].BuyWithKey("another"); answer.Status != 409 || answer.Error.Code != "sold_out" {
			t.Errorf("another key: %+v; want 409 sold_out", answer)
		}
	})
}

// A buyer in doubt asks again, and has its receipt; so has the first request, if its write comes late.
func TestRepeatAfterAnUnknownOutcomeHasTheReceipt(t *testing.T) {
	t.Parallel()
	suite.Together(t, []string{"v0", "v4", "v7", "v11", "atomic", "optimistic"}, func(t *testing.T, version string) {
		redis := redisserver.Start(t)
		proxy := redisserver.NewProxy(t, redis.Addr)
		flags := []string{"--lock.version", version, "--lock.ttl", "1s"}
		s := shoptest.Start(t, append(flags, "--redis.addrs", proxy.Addr())...)
		other := shoptest.Start(t, append(flags, "--redis.addrs", redis.Addr)...)
		for i, fate := range []fault.Action{fault.LoseReply, fault.LoseRequest} {
			key := fmt.Sprint("doubt", i)
			proxy.Catch(fault.IsWrite, fate)
			first := s.BuyWithKey(key)
			if first.Status != 503 || first.Error.Code != "outcome_unknown" || first.Error.OrderID != api.OrderOfKey(key) || first.RetryAfter != "" {
				t.Errorf("%+v; want 503 outcome_unknown of %s, and no word of trying again", first, api.OrderOfKey(key))
			}
			made := fate == fault.LoseReply // of optimistic, EXEC may be lost with the reply to what it is to do
			if answer := s.BuyWithKey(key); answer.Replayed != made && version != "optimistic" || !answer.IsReceipt(s.Order(key)) {
				t.Errorf("the repeat: %+v; want the receipt of %+v, replayed %v", answer, s.Order(key), made)
			}
		}
		trap := proxy.Catch(fault.IsWrite, fault.Hold)
		late := make(chan shoptest.Bought, 1)
		go func() { late <- s.BuyWithKey("late") }()
		suite.Eventually(t, "a write is caught", trap.IsCaught)
		answer := other.BuyWithKey("late") // with a lock, once that has expired
		trap.Release()
		order, first := s.Order("late"), <-late
		if answer.Replayed || !answer.IsReceipt(order) {
			t.Errorf("%+v; want the receipt of %+v", answer, order)
		}
		doubt := first.Status == 503 && first.Error.Code == "outcome_unknown"
		if !doubt && (!first.Replayed || !first.IsReceipt(order)) {
			t.Errorf("the first request: %+v; want the receipt of %+v, or a doubt", first, order)
		}
		if run := s.Report(); run.Sold != 3 || run.Remaining != 197 {
			t.Errorf("%+v; want 3 sold", run)
		}
	})
}
