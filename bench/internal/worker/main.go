// Package worker implements a worker process, which runs a share of the buyers of a trial. Package race starts it as a child, sends it a
// Job and a Window as lines of JSON on standard input, and reads its Report from standard output. Begin with Main.
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

// Argument is the only command-line argument of a worker process.
const Argument = "worker"

// Job is the first line on standard input.
type Job struct {
	Contestant string        `json:"contestant"`
	Addrs      []string      `json:"addrs"` // host:port of the Redis servers
	Buyers     int           `json:"buyers"`
	Process    string        `json:"process"`
	RoundTrip  time.Duration `json:"round_trip_ns"` // delay added to each round trip
	Pool       int           `json:"pool"`
	Retry      time.Duration `json:"retry_ns"`
	TTL        time.Duration `json:"ttl_ns"`
	Wait       time.Duration `json:"wait_ns"`
	Rest       time.Duration `json:"rest_ns"` // pause of a buyer after a sale
}

// Ready is the answer to a Job, once the worker can begin.
type Ready struct {
	Ping time.Duration `json:"ping_ns"` // median round trip of PING
}

// Window is the second line on standard input. The worker sells at once until End, and counts from Begin. All processes use the same clock.
type Window struct {
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
}

// Main runs one job with a contestant of the table. It fails if the input is invalid or ends early, and if Redis fails.
func Main(ctx context.Context, table []contestants.Contestant, stdin io.Reader, stdout io.Writer) error {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var job Job
	if err := in.Decode(&job); err != nil {
		return fmt.Errorf("reading the job: %w", err)
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
		return fmt.Errorf("writing that it is ready: %w", err)
	}
	var window Window
	if err := in.Decode(&window); err != nil {
		return fmt.Errorf("reading the window: %w", err)
	}
	report := runBuyers(ctx, seller, job, window, &requests)
	if err := out.Encode(report); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return seller.Close()
}

// requestCounters counts the requests of the lock's clients, and all others.
type requestCounters struct{ sale, lock atomic.Int64 }

func (c *requestCounters) read() (all, lock int64) {
	lock = c.lock.Load()
	return c.sale.Load() + lock, lock
}

// runBuyers runs all buyers until the end of the window, and returns their report.
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

// waitUntil waits until t, or until ctx ends.
func waitUntil(ctx context.Context, t time.Time) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// ping returns the median round trip of some PINGs.
func ping(ctx context.Context, dialer wire.Dialer, addr string) (time.Duration, error) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{addr}, Dialer: dialer.DialContext})
	defer func() { _ = client.Close() }() // all replies have arrived
	var trips []time.Duration
	for range 21 {
		sent := time.Now()
		if err := client.Ping(ctx).Err(); err != nil {
			return 0, fmt.Errorf("PING %s: %w", addr, err)
		}
		trips = append(trips, time.Since(sent))
	}
	return median(trips[1:]), nil // the first PING opens the connection
}
