// Package worker is one worker process of a contestant: it runs a share of the buyers, each of which buys again and again. Package race
// starts it as a child, tells it what to do by lines of JSON on standard input, and reads its report from standard output.
package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/wire"
	"lockstep/internal/dao/redisclient"
)

// Argument is the whole command line of a worker process.
const Argument = "worker"

// Job is the first line that a worker process is told.
type Job struct {
	Contestant string        `json:"contestant"`
	Addrs      []string      `json:"addrs"` // of the Redis servers
	Buyers     int           `json:"buyers"`
	Process    string        `json:"process"`
	RoundTrip  time.Duration `json:"round_trip_ns"` // added to each
	Pool       int           `json:"pool"`
	Retry      time.Duration `json:"retry_ns"`
	TTL        time.Duration `json:"ttl_ns"`
	Wait       time.Duration `json:"wait_ns"`
	Rest       time.Duration `json:"rest_ns"` // of a buyer that has bought
}

// Ready is its answer once it can begin.
type Ready struct {
	Ping time.Duration `json:"ping_ns"` // median round trip that it finds
}

// Window is the second line that it is told: it sells from now to End, and counts from Begin. All processes share the machine's clock.
type Window struct {
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
}

// Main does one job with a contestant of the table. It fails if what it is told makes no sense, if there is no Redis, and if standard
// input ends before it was told the window.
func Main(ctx context.Context, table []contestants.Contestant, stdin io.Reader, stdout io.Writer) error {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var job Job
	if err := in.Decode(&job); err != nil {
		return fmt.Errorf("the job: %w", err)
	}
	found, err := contestants.Find(table, []string{job.Contestant})
	if err != nil {
		return err
	}
	var requests requestCounters
	sale := wire.Dialer{RoundTrip: job.RoundTrip, Requests: &requests.sale}
	lock := wire.Dialer{RoundTrip: job.RoundTrip, Requests: &requests.lock}
	ping, err := ping(ctx, sale, job.Addrs[0])
	if err != nil {
		return err
	}
	seller, err := found[0].Open(contestants.Env{
		Addrs: job.Addrs, Dial: sale.DialContext, DialLock: lock.DialContext, Pool: job.Pool, Process: job.Process,
		RetryPause: job.Retry, TTL: job.TTL, WaitTimeout: job.Wait,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", job.Contestant, err)
	}
	if err := out.Encode(Ready{Ping: ping}); err != nil {
		return fmt.Errorf("ready: %w", err)
	}
	var window Window
	if err := in.Decode(&window); err != nil {
		return fmt.Errorf("when to begin: %w", err)
	}
	report := runBuyers(ctx, seller, job, window, &requests)
	if err := out.Encode(report); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return seller.Close()
}

// requestCounters count requests: those of the lock's clients, and all others.
type requestCounters struct{ sale, lock atomic.Int64 }

func (c *requestCounters) read() (all, lock int64) {
	lock = c.lock.Load()
	return c.sale.Load() + lock, lock
}

// runBuyers has all buyers buy until the window is over.
func runBuyers(ctx context.Context, seller contestants.Seller, job Job, window Window, requests *requestCounters) Report {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	buyers := make([]buyer, job.Buyers)
	var working sync.WaitGroup
	for i := range buyers {
		working.Go(func() { buyers[i].run(ctx, seller, job) })
	}
	waitUntil(ctx, window.Begin)
	all, lock := requests.read()
	waitUntil(ctx, window.End)
	allAfter, lockAfter := requests.read()
	stop()
	working.Wait()
	report := newReport(buyers, window)
	report.Requests, report.LockRequests = allAfter-all, lockAfter-lock
	return report
}

func waitUntil(ctx context.Context, t time.Time) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// ping measures the round trip that a client finds: the median of some.
func ping(ctx context.Context, dialer wire.Dialer, addr string) (time.Duration, error) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{addr}, Dialer: dialer.DialContext})
	defer func() { _ = client.Close() }() // it has done its work
	var trips []time.Duration
	for range 21 {
		sent := time.Now()
		if err := client.Ping(ctx).Err(); err != nil {
			return 0, fmt.Errorf("PING %s: %w", addr, err)
		}
		trips = append(trips, time.Since(sent))
	}
	return median(trips[1:]), nil // the first one dials
}
